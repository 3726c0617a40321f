import { createHash } from "node:crypto";
import {
  type DeduplicationKey,
  deduplicationKeys,
  type PublishCommand,
  type UrlCommand,
} from "@posthaste/domain";
import { aPolicy, aTenant } from "./message.ts";

export function aCommand(overrides?: Partial<UrlCommand>): UrlCommand;
export function aCommand(overrides?: Partial<PublishCommand>): PublishCommand;
export function aCommand(overrides: Partial<PublishCommand> = {}): PublishCommand {
  return {
    tenant: aTenant,
    dialect: "service",
    destination: { kind: "url", url: "https://destination.example/hook" },
    method: "POST",
    headers: [["Content-Type", "text/plain"]],
    body: new TextEncoder().encode("hello"),
    policy: aPolicy(),
    callerIp: "203.0.113.7",
    hop: 0,
    ...overrides,
  };
}

export function aKey(deduplicationId: string): DeduplicationKey {
  const command = aCommand({ deduplication: { kind: "explicit", id: deduplicationId } });
  const [key] = deduplicationKeys(command, [], sha256);
  if (key === undefined) throw new Error("a publish to a URL has one key");
  return key;
}

const sha256 = (value: string | Uint8Array): string =>
  createHash("sha256").update(value).digest("hex");
