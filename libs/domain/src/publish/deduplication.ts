/** Deduplication keys (decisions.md 16): tenant + explicit id or content hash, and for a group its name and the endpoint. */
import { type Sha256Hex } from "../message/redact.ts";
import { type Endpoint } from "./url-group.ts";
import { type PublishCommand } from "./command.ts";

declare const brand: unique symbol;
export type DeduplicationKey = string & { readonly [brand]: "DeduplicationKey" };

/** One key for a URL; for a group one per endpoint. Empty when the publish asked for no deduplication. */
export function deduplicationKeys(
  command: PublishCommand,
  endpoints: readonly Endpoint[],
  sha256: Sha256Hex,
): readonly DeduplicationKey[] {
  const { deduplication, destination, tenant } = command;
  if (!deduplication) return [];
  const asked =
    deduplication.kind === "explicit"
      ? `id:${deduplication.id}`
      : `content:${contentHash(command, sha256)}`;
  const keyed = (scope: string): DeduplicationKey =>
    `${tenant}:${sha256(JSON.stringify([asked, scope]))}` as DeduplicationKey;
  if (destination.kind === "url") return [keyed("")];
  return endpoints.map(({ name, url }) =>
    keyed(`group:${destination.name}:${JSON.stringify([name, url])}`),
  );
}

/** Over destination, body, content type and forwarded headers (reliability.md P10): equal bodies to two URLs are two messages. */
function contentHash(command: PublishCommand, sha256: Sha256Hex): string {
  const { destination } = command;
  const where = destination.kind === "url" ? destination.url : destination.name;
  return sha256(JSON.stringify([destination.kind, where, command.headers, sha256(command.body)]));
}
