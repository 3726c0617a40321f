/**
 * Accepts messages: publish answers only after the record is durable (I1). One commit lies between arrival and
 * answer.
 *
 * With a local deliverer that has a place in line, the insert is the claim: insert, call, settle, and nothing else
 * (docs/design/record#claimed-by-its-insert). The same holds for a deliverer of another process that the roster
 * names, which gets the record with the hint. A message with a flow key takes a slot of that key
 * first, if its line is empty.
 */
import {
  accept,
  acceptClaimed,
  acceptGranted,
  acceptNamed,
  type Fault,
  type InState,
  isFault,
  isIn,
  mayBeNamed,
  mayGoAtOnce,
  type Message,
  type MessageId,
  messageOf,
  type MessageRecord,
  needsOnlySlot,
  originHash,
  type PublishCommand,
  type Run,
  type Sha256Hex,
} from "@posthaste/domain";
import {
  type Clock,
  type DeduplicationEntry,
  type EventBus,
  type FanOuts,
  type FlowLanes,
  type Groups,
  type Ids,
  type Insert,
  type LocalDelivery,
  type LocalPlace,
  type MessageLog,
  type NamedDelivery,
  type Records,
  type TokenStore,
} from "@posthaste/ports";
import { giveSlotsBack, takeSlots } from "../lanes/slots.ts";
import { announceInBackground } from "./announce.ts";
import { claimOnce, confirmKeys, goneMessages } from "./deduplicate.ts";

export type AcceptPorts = {
  readonly records: Records;
  readonly fanOuts: FanOuts;
  readonly flowLanes: FlowLanes;
  readonly groups: Groups;
  readonly tokens: TokenStore;
  /** Searched when a deduplication key names a message whose record was removed. */
  readonly messageLog: Pick<MessageLog, "list">;
  readonly bus: EventBus;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly sha256: Sha256Hex;
  readonly local?: LocalDelivery;
  readonly named?: NamedDelivery;
};

export type Published = {
  readonly messageId: MessageId;
  readonly url: string;
  readonly deduplicated: boolean;
  /** The run that the message starts or joins, with its trace if that is sampled. */
  readonly run?: Pick<Run, "createdAt" | "id"> & Pick<Run["plan"], "trace">;
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
  const claimed = await claimOnce(
    ports,
    command,
    ports.ids.next(),
    goneMessages(ports, command.tenant),
  );
  if (isFault(claimed)) return claimed;
  const { id: messageId, isDuplicate, key } = claimed;
  if (isDuplicate) return { messageId, url, deduplicated: true };
  const entries = [{ key, id: messageId }];
  const isNew = await insert(ports, command, url, messageId, entries);
  await confirmKeys(ports, entries);
  return { messageId, url, deduplicated: !isNew };
}

/** Inserts a message. Reports whether the record is new: the publish that was first may have inserted the id that this one takes over. */
function insert(
  ports: AcceptPorts,
  command: PublishCommand,
  url: string,
  id: MessageId,
  deduplication: readonly DeduplicationEntry[],
): Promise<boolean> {
  const entering = prepare(ports, command, url, id);
  const wait = entering.place ? undefined : waitForPlace(ports, entering.record.message);
  if (wait === undefined) return insertPrepared(ports, entering, deduplication);
  releaseDeliverer(ports, entering);
  // The record gets the times after the wait.
  return wait.then(() => insertPrepared(ports, prepare(ports, command, url, id), deduplication));
}

/** Returns the wait of a message that its insert would claim for a deliverer with a place in line, or with time to spare. */
function waitForPlace({ local, named }: AcceptPorts, message: Message): Promise<void> | undefined {
  if (named && mayBeNamed(message)) return named.waitWhileBusy(message.tenant);
  if (local === undefined || !mayGoAtOnce(message)) return undefined;
  return local.waitForPlace(message.tenant, originHash(message.url), message.body.length);
}

function insertPrepared(
  ports: AcceptPorts,
  entering: PreparedInsert,
  deduplication: readonly DeduplicationEntry[],
): Promise<boolean> {
  if (!needsSlot(entering)) return write(ports, entering, deduplication);
  return withSlots(ports, [entering]).then(([each = entering]) =>
    write(ports, each, deduplication),
  );
}

function write(
  ports: AcceptPorts,
  entering: PreparedInsert,
  deduplication: readonly DeduplicationEntry[],
): Promise<boolean> {
  return ports.records.insert([insertOf(entering, deduplication)], "new").then(
    ([inserted]) => {
      const isNew = inserted === "inserted";
      if (!isNew) giveBack(ports, entering);
      else if (!begin(ports, entering)) announceInBackground(ports, [entering.record]);
      return isNew;
    },
    (error: unknown) => {
      giveBack(ports, entering);
      throw error;
    },
  );
}

/** A record that is about to be inserted, and its place in line if the local deliverer has reserved one. */
export type PreparedInsert =
  | { readonly record: InState<"claimed">; readonly place: LocalPlace }
  | { readonly record: MessageRecord; readonly place?: undefined };

/** Prepares the record of every message. `withSlots` follows, if one needs a slot of its flow key; then `begin` or `giveBack`. */
export function prepare(
  ports: AcceptPorts,
  command: PublishCommand,
  url: string,
  id: MessageId,
): PreparedInsert {
  const { local, named, clock } = ports;
  const now = clock.now();
  const message = messageOf(command, url, id, now);
  const place =
    local && mayGoAtOnce(message)
      ? local.reserve(message.tenant, originHash(url), message.body.length)
      : undefined;
  if (place) return { record: acceptClaimed(message, place.owner, now), place };
  const owner = named && mayBeNamed(message) ? named.ownerFor(message) : undefined;
  const record =
    owner === undefined
      ? accept(message, now, !ports.bus.isUp())
      : acceptNamed(message, owner, now);
  return { record };
}

const needsSlot = ({ record }: PreparedInsert): boolean => needsOnlySlot(record.message);

/** Returns the records to insert: messages whose flow key has a free slot pass its line, the rest join it. */
export async function withSlots<T extends PreparedInsert | undefined>(
  ports: AcceptPorts,
  entering: readonly T[],
): Promise<readonly (T | PreparedInsert)[]> {
  const messages = entering.flatMap((each) => (each && needsSlot(each) ? each.record.message : []));
  if (messages.length === 0) return entering;
  const taken = await takeSlots(ports, messages);
  return entering.map((each) => {
    if (!each || !needsSlot(each)) return each;
    return taken.has(each.record.message.id) ? passLine(ports, each) : joinLine(ports, each);
  });
}

function passLine({ bus, clock }: AcceptPorts, each: PreparedInsert): PreparedInsert {
  const { message } = each.record;
  return isIn(each.record, "claimed")
    ? each
    : { record: acceptGranted(message, clock.now(), !bus.isUp()) };
}

function joinLine(ports: AcceptPorts, each: PreparedInsert): PreparedInsert {
  releaseDeliverer(ports, each);
  return { record: accept(each.record.message, ports.clock.now()) };
}

export const insertOf = (
  { record }: PreparedInsert,
  deduplication: readonly DeduplicationEntry[],
): Insert => (deduplication.length > 0 ? { record, deduplication } : { record });

/** Begins the attempt of an inserted record that its insert claimed. Returns false when the record has to be announced. */
export function begin({ named }: AcceptPorts, { place, record }: PreparedInsert): boolean {
  if (place) place.run(record);
  else if (isIn(record, "claimed")) named?.sendHint(record);
  else return false;
  return true;
}

/** Gives back the slots of a record that was not inserted. */
export function giveBack(ports: AcceptPorts, entering: PreparedInsert): void {
  releaseDeliverer(ports, entering);
  const { flow, id } = entering.record.message;
  // Not awaited: a slot that cannot be given back ends with its lease.
  if (flow !== undefined && !isIn(entering.record, "waiting") && needsSlot(entering))
    giveSlotsBack(ports, flow, [id]).catch(() => undefined);
}

/** Tells the deliverer for which the record was claimed that it was not inserted. */
function releaseDeliverer({ named }: AcceptPorts, { place, record }: PreparedInsert): void {
  if (place) place.release();
  else if (isIn(record, "claimed")) named?.release(record);
}
