/**
 * Accepting: publish answers only after the record is durable (I1). One commit lies between arrival and answer.
 *
 * With a local deliverer that has a slot to spare, the insert is the claim: insert, call, settle, and nothing else
 * (decisions.md 8).
 */
import {
  accept,
  acceptClaimed,
  claimableAtInsert,
  deduplicationKeys,
  fault,
  type Fault,
  isFault,
  isIn,
  type MessageId,
  messageOf,
  type MessageRecord,
  originHash,
  type PublishCommand,
  type Sha256Hex,
} from "@posthaste/domain";
import {
  type Clock,
  type DeduplicationEntry,
  type EventBus,
  type Groups,
  type Ids,
  type LocalDelivery,
  type MessageStore,
  type TokenStore,
} from "@posthaste/ports";
import { announceUnheard } from "./announce.ts";
import { claimKeys } from "./deduplicate.ts";

export type AcceptPorts = {
  readonly messages: MessageStore;
  readonly groups: Groups;
  readonly tokens: TokenStore;
  readonly bus: EventBus;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly sha256: Sha256Hex;
  readonly local?: LocalDelivery;
};

export type Published = {
  readonly messageId: MessageId;
  readonly url: string;
  readonly deduplicated: boolean;
};

export function publishToUrl(
  ports: AcceptPorts,
  command: PublishCommand,
  url: string,
): Promise<Published | Fault> {
  if (command.deduplication) return publishOnce(ports, command, url);
  const messageId = ports.ids.next();
  return insert(ports, command, url, messageId, []).then(() => ({
    messageId,
    url,
    deduplicated: false,
  }));
}

async function publishOnce(
  ports: AcceptPorts,
  command: PublishCommand,
  url: string,
): Promise<Published | Fault> {
  const [key] = deduplicationKeys(command, [], ports.sha256);
  if (key === undefined) return fault("internal", "no deduplication key");
  const claimed = await claimKeys(ports, [{ key, id: ports.ids.next() }]);
  if (isFault(claimed)) return claimed;
  const [verdict] = claimed;
  if (!verdict) return fault("internal", "no answer from the deduplication window");
  if (verdict.kind === "duplicate") return { messageId: verdict.id, url, deduplicated: true };
  const entries = [{ key, id: verdict.id }];
  const isNew = await insert(ports, command, url, verdict.id, entries);
  await ports.tokens.confirm(entries);
  return { messageId: verdict.id, url, deduplicated: !isNew };
}

/**
 * Answers whether the record is new; a taken-over id may have been inserted by the publish that was first. Every message
 * passes here, hence promises by hand: an async function costs several times as much.
 */
function insert(
  ports: AcceptPorts,
  command: PublishCommand,
  url: string,
  id: MessageId,
  deduplication: readonly DeduplicationEntry[],
): Promise<boolean> {
  const { local, messages, clock } = ports;
  const now = clock.now();
  const message = messageOf(command, url, id, now);
  const origin = originHash(url);
  const reserved =
    local !== undefined && claimableAtInsert(message) && local.reserve(message.tenant, origin);
  const record: MessageRecord = reserved
    ? acceptClaimed(message, local.owner, now)
    : accept(message, now, !ports.bus.isUp());
  const release = (): void => {
    if (reserved) local.release(message.tenant, origin);
  };
  return messages.insert([deduplication.length > 0 ? { record, deduplication } : { record }]).then(
    ([inserted]) => {
      if (inserted !== "inserted") release();
      else if (reserved && isIn(record, "claimed")) local.run(record);
      else announceUnheard(ports, [record]);
      return inserted === "inserted";
    },
    (error: unknown) => {
      release();
      throw error;
    },
  );
}
