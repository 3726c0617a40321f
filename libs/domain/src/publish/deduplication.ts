/**
 * Deduplication keys (docs/design/deduplication#keys): the tenant with an explicit id or a content hash; for a group,
 * its name and the endpoint as well.
 */
import { type HeaderPair, type Headers } from "../message/headers.ts";
import { type StateKind } from "../message/message.ts";
import { type Sha256Hex } from "../message/redact.ts";
import { type RunState } from "../workflow/run.ts";
import { type Endpoint } from "./url-group.ts";
import { type ScheduleCommand } from "../schedule/schedule.ts";
import { type TenantId } from "../shared/ids.ts";
import { type Deduplication, type PublishCommand } from "./command.ts";

declare const brand: unique symbol;
export type DeduplicationKey = string & { readonly [brand]: "DeduplicationKey" };

/**
 * Reports whether a key still names its work. Work that was cancelled, or deleted with its queue, is taken over by the next
 * publish.
 */
export const keepsKey = (state: StateKind | RunState["kind"]): boolean => keeps[state];
const keeps: Readonly<Record<StateKind | RunState["kind"], boolean>> = {
  queued: true,
  held: true,
  waiting: true,
  due: true,
  claimed: true,
  active: true,
  delivered: true,
  succeeded: true,
  // The message was tried and may have had effects. This still holds after its dead letter was removed or retried.
  failed: true,
  canceled: false,
};

/** Returns one key for a URL, one per endpoint for a group, and none for a publish without deduplication. */
export const deduplicationKeys = (
  command: PublishCommand,
  endpoints: readonly Endpoint[],
  sha256: Sha256Hex,
): readonly DeduplicationKey[] => keysOfEndpoints(command, sha256)(endpoints);

/** Returns a function that makes the same keys for one portion of the endpoints at a time. */
export function keysOfEndpoints(
  command: PublishCommand,
  sha256: Sha256Hex,
): (endpoints: readonly Endpoint[]) => readonly DeduplicationKey[] {
  const { deduplication, destination, tenant } = command;
  if (!deduplication) return () => [];
  let hash: string | undefined;
  const content = (): string => (hash ??= contentHash(command, sha256));
  const keyed = (scope: string): DeduplicationKey =>
    deduplicationKeyOf(tenant, deduplication, scope, content, sha256);
  if (destination.kind === "url") return () => [keyed("")];
  return (endpoints) =>
    endpoints.map(({ name, url }) =>
      keyed(`group:${destination.name}:${JSON.stringify([name, url])}`),
    );
}

/** `scope` separates publishes of different kinds with one id; `content` is called if there is no id. */
export function deduplicationKeyOf(
  tenant: TenantId,
  deduplication: Deduplication,
  scope: string,
  content: () => string,
  sha256: Sha256Hex,
): DeduplicationKey {
  const asked =
    deduplication.kind === "explicit" ? `id:${deduplication.id}` : `content:${content()}`;
  return `${tenant}:${sha256(JSON.stringify([asked, scope]))}` as DeduplicationKey;
}

/** Returns the content hash of a schedule: when it fires, and what its messages are made of. */
export const scheduleContent = (
  { cron, template, body }: ScheduleCommand,
  sha256: Sha256Hex,
): string => sha256(JSON.stringify([cron.text, contentHash({ ...template, body }, sha256)]));

/**
 * Hashes destination, method, body, the body's headers and the forwarded ones (docs/design/deduplication#keys), so equal
 * bodies to two URLs are two messages. POST, the default, is left out, so that windows open during an upgrade hold.
 */
function contentHash(
  command: Pick<PublishCommand, "destination" | "method" | "headers" | "body">,
  sha256: Sha256Hex,
): string {
  const { destination } = command;
  const where = destination.kind === "url" ? destination.url : destination.name;
  return sha256(
    JSON.stringify([
      destination.kind,
      where,
      comparable(command.headers),
      sha256(command.body),
      ...(command.method === "POST" ? [] : [command.method]),
    ]),
  );
}

/**
 * Names are compared in lower case and sorted, since clients and proxies spell and order them as they like. Values of one
 * name keep their order, which may mean something.
 */
const comparable = (headers: Headers): Headers =>
  headers
    .map(([name, value]): HeaderPair => [name.toLowerCase(), value])
    .toSorted(([a], [b]) => (a < b ? -1 : Number(a > b)));
