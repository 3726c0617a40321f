import { createHash } from "node:crypto";
import {
  type Message,
  type Policy,
  type Sha256Hex,
  messageId,
  shardOf,
  tenantId,
} from "@posthaste/domain";

export const sha256: Sha256Hex = (value) => createHash("sha256").update(value).digest("hex");
export const hidden = (value: string | Uint8Array) => `REDACTED:${sha256(value)}`;
export const bytes = (text: string) => new TextEncoder().encode(text);

export function messageFixture(
  changed: Partial<Message> = {},
  policy: Partial<Policy> = {},
): Message {
  const id = messageId("msg_00000000100000000000000000");
  return {
    id,
    tenant: tenantId("tenant"),
    dialect: "service",
    shard: shardOf(id),
    createdAt: 1_700_000_000_000,
    notBefore: 1_700_000_005_000,
    url: "http://example.com",
    method: "POST",
    headers: [],
    body: new Uint8Array(),
    policy: { timeoutMs: 30_000, retriesMax: 3, labels: [], ...policy },
    origin: { callerIp: "192.0.2.7", hop: 1 },
    ...changed,
  };
}
