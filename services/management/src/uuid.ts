import { hash } from "node:crypto";
import { type Random } from "@posthaste/ports";

const chanceLength = 32;

/** Returns a random UUID (RFC 9562, version 4). */
export function newUuid(random: Random): string {
  const bytes = hash("sha256", random.text(chanceLength), "buffer").subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
