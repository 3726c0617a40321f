/**
 * Works outboxes kind by kind, and clears the items that a worker reports safe. However often and by however many
 * processes this is done, the result is the same, since all ids are derived.
 */
import {
  type AttemptFact,
  type FollowUp,
  type FollowUpKind,
  followUpKinds,
  type FollowUpOf,
  isKnownFormat,
  type MessageId,
  type MessageRecord,
  type TenantId,
} from "@posthaste/domain";
import { type Log, type OutboxItemRef } from "@posthaste/ports";
import { wakeLane, wakeSchedulers } from "../publish/announce.ts";
import { settledEvent, type Task, workers, type WorkerPorts } from "./follow-up-workers.ts";

export type FollowUpPorts = WorkerPorts & { readonly log: Log };

export type Outbox = Pick<MessageRecord, "message" | "outbox">;

/**
 * Works outboxes. A worker that fails ends the round, since later kinds may rely on its items; items that were safe
 * by then are cleared.
 */
export async function followUp(ports: FollowUpPorts, outboxes: readonly Outbox[]): Promise<void> {
  leaveStrangers(ports, outboxes);
  const done: OutboxItemRef[] = [];
  try {
    for (const kind of followUpKinds) done.push(...(await work(ports, kind, outboxes)));
  } finally {
    if (done.length > 0) {
      await ports.records.clear(done);
      wakeQueues(ports, outboxes, done);
    }
  }
}

/**
 * Wakes the queues of messages whose callbacks were made: a message may keep its turn no longer, when its last callback has
 * already ended.
 */
function wakeQueues(
  { bus, clock }: FollowUpPorts,
  outboxes: readonly Outbox[],
  done: readonly OutboxItemRef[],
): void {
  const queued = outboxes.filter(({ message }) => message.queue !== undefined);
  if (queued.length === 0) return;
  const made = new Set(done.filter(({ item }) => item !== "fact").map(({ id }) => id));
  const queues = queued.flatMap(({ message: { id, queue } }) => (made.has(id) && queue) || []);
  wakeSchedulers(
    bus,
    [...new Set(queues)].map((queue) => wakeLane(queue, clock.now())),
  );
}

/** Works the outboxes of the named messages, as many as one read holds. Returns the ids that were not read. */
export async function followUpSome(
  ports: FollowUpPorts,
  tenant: TenantId,
  ids: readonly MessageId[],
): Promise<readonly MessageId[]> {
  const { records, left } = await ports.records.getSome(tenant, ids);
  await followUp(ports, records);
  return left;
}

function work<K extends FollowUpKind>(
  ports: FollowUpPorts,
  kind: K,
  outboxes: readonly Outbox[],
): Promise<readonly OutboxItemRef[]> {
  const isOfKind = (item: FollowUp): item is FollowUpOf<K> =>
    item.kind === kind && isKnownFormat(item);
  const tasks = outboxes.flatMap(({ message, outbox }) =>
    outbox.filter(isOfKind).map((item): Task<K> => ({ message, item })),
  );
  const worker = workers[kind];
  return tasks.length > 0 ? worker(ports, tasks) : Promise.resolve([]);
}

/**
 * Carries out the consequences of a settle, in the deliverer. Makes dead letter and fact safe without another hop, and
 * leaves callbacks to the callback-dispatcher, which receives the fact. While the bus is away the callback-dispatcher
 * receives nothing, so the whole outbox is worked here; so an outage delays callbacks no more than other messages.
 */
export async function reportSettled(ports: FollowUpPorts, settled: Settled): Promise<void> {
  if (!ports.bus.isUp()) return followUp(ports, [settled]);
  try {
    await workAllButCallbacks(ports, settled);
  } catch (error) {
    if (!settled.outbox.some(isCallback)) throw error;
    await followUp(ports, [settled]);
  }
}

type Settled = Outbox & { readonly fact: AttemptFact | undefined };

/** Publishes the fact, too, if the store has already made it safe: the callback-dispatcher needs it. */
async function workAllButCallbacks(
  ports: FollowUpPorts,
  { message, outbox, fact }: Settled,
): Promise<void> {
  const own = outbox.filter((item) => !isCallback(item));
  await followUp(ports, [{ message, outbox: own }]);
  if (fact && own.every(({ kind }) => kind !== "fact"))
    await ports.bus.publish("message.settled", [settledEvent(ports, message, fact)]);
}

const isCallback = ({ kind }: FollowUp): boolean =>
  kind === "callback" || kind === "failureCallback";

/**
 * Logs the items that this build does not understand, each kind once per process. Such items stay in the outbox for a newer
 * build, which finds them by the record's alarm.
 */
function leaveStrangers({ log }: FollowUpPorts, outboxes: readonly Outbox[]): void {
  for (const { message, outbox } of outboxes) {
    for (const item of outbox) {
      if (isKnown(item)) continue;
      const { kind, format = 1 } = item;
      const name = `${kind} ${format}`;
      const logged = strangers.get(log) ?? new Set<string>();
      if (logged.has(name) || logged.size >= strangersMax) continue;
      strangers.set(log, logged.add(name));
      log.warn("follow-up.not_understood", { id: message.id, kind, format });
    }
  }
}

const known: ReadonlySet<string> = new Set(followUpKinds);
const isKnown = (item: FollowUp): boolean => known.has(item.kind) && isKnownFormat(item);

const strangers = new WeakMap<Log, Set<string>>();
const strangersMax = 100;
