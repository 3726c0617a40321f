/** Planted bugs in the writes of the adapter of MongoDB: conditions left out, alarms forgotten, writes acknowledged and not made. */
import { type Mutation } from "../mutate.ts";
import { type Instead, type Write } from "../mongodb/server.ts";
import { isList, isPlain, type Plain } from "../mongodb/values.ts";

const of = ({ update }: Write, operator: string): Plain => {
  const stages: readonly unknown[] = isList(update) ? update : [update];
  const fields = stages.map((stage) => (isPlain(stage) ? stage[operator] : undefined));
  return Object.assign({}, ...fields.filter(isPlain)) as Plain;
};
const sets = (write: Write, field: string): boolean => field in of(write, "$set");

const without = (fields: Plain, ...names: readonly string[]): Plain =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));

/** Leaves conditions out of those writes of a collection that match `isIt`. */
const unconditional =
  (collection: string, isIt: (write: Write) => boolean, ...names: readonly string[]): Instead =>
  (write) =>
    write.collection === collection && isIt(write)
      ? { ...write, filter: without(write.filter, ...names) }
      : write;

/** Leaves a field out of the fields that writes of a collection set. */
const unset =
  (collection: string, operator: string, field: string, isIt: (write: Write) => boolean): Instead =>
  (write) =>
    write.collection === collection && field in of(write, operator) && isIt(write)
      ? { ...write, update: { ...write.update, [operator]: without(of(write, operator), field) } }
      : write;

/** Leaves a field out of inserted documents, only of those in `state` if one is given. */
const insertedWithout =
  (collection: string, field: string, state?: string): Instead =>
  (write) =>
    write.collection === collection && write.document && write.document["state"] === state
      ? { ...write, document: without(write.document, field) }
      : write;

const always = (): boolean => true;
const isCancel = (write: Write): boolean => of(write, "$set")["state"] === "canceled";
const isSettlement = (write: Write): boolean =>
  write.filter["state"] === "claimed" && (isList(write.update) || sets(write, "deferrals"));

export const documentMutations: readonly Mutation[] = [
  {
    name: "a claim of what another has claimed",
    instead: (write) =>
      write.collection === "messages" && of(write, "$set")["state"] === "claimed"
        ? {
            ...write,
            filter: { _id: write.filter["_id"], state: { $in: ["due", "held", "claimed"] } },
          }
        : write,
  },
  {
    name: "a record that gets into line without an alarm of its own",
    instead: insertedWithout("messages", "wakeAt", "waiting"),
  },
  {
    name: "a record promoted whatever has become of it",
    instead: unconditional("messages", (write) => sets(write, "promotedBy"), "state", "lane"),
  },
  {
    name: "a settlement written whatever the epoch",
    instead: unconditional("messages", isSettlement, "epoch"),
  },
  {
    name: "a record cancelled whatever has become of it",
    instead: unconditional("messages", isCancel, "state", "epoch", "retried"),
  },
  {
    name: "a cancellation that its canceller did not write to the log, and no sweep does",
    shownBy: "bulkActions",
    instead: (write) => {
      const { canceledSweepAt: sweepAt, ...others } = of(write, "$set");
      return sweepAt === undefined
        ? write
        : { ...write, update: { ...write.update, $set: { ...others, sweepAt } } };
    },
  },
  {
    name: "an outbox emptied whatever stands in it",
    instead: unconditional(
      "messages",
      (write) => sets(write, "outbox"),
      ...["outbox", "outbox.0.attempt", "outbox.0.kind"],
    ),
  },
  {
    name: "a removed record that leaves no tombstone",
    instead: (write) =>
      write.collection === "messages" && write.replacement
        ? { ...write, replacement: { tombstoneUntil: 0 } }
        : write,
  },
  {
    name: "turns said and not written",
    shownBy: "queues",
    instead: (write) => (write.collection === "queues" && sets(write, "given") ? undefined : write),
  },
  {
    name: "turns written whatever another look has given",
    shownBy: "queues",
    instead: unconditional("queues", (write) => sets(write, "given"), "turnsVersion"),
  },
  {
    name: "a queue laid to rest whatever has come to it",
    isRare: true,
    shownBy: "queues",
    instead: unconditional("queues", always, "entries"),
  },
  {
    name: "a record that leaves its queue whatever has become of it",
    shownBy: "queues",
    instead: unconditional(
      "messages",
      ({ filter }) => filter["state"] === "queued",
      ...["state", "epoch"],
    ),
  },
  {
    name: "a schedule moved whatever its version",
    shownBy: "schedules",
    instead: unconditional("schedules", always, "version"),
  },
  {
    name: "a schedule moved without its alarm",
    shownBy: "schedules",
    instead: unset("schedules", "$set", "wakeAt", (write) => sets(write, "version")),
  },
  {
    name: "a fan-out inserted without its alarm",
    instead: insertedWithout("fan_outs", "wakeAt"),
  },
  {
    name: "the end of a fan-out said and not written",
    instead: (write) =>
      write.collection === "fan_outs" && sets(write, "endedAt") ? undefined : write,
  },
  {
    name: "a bulk action inserted without its alarm",
    shownBy: "bulkActions",
    instead: insertedWithout("bulk_actions", "wakeAt"),
  },
  {
    name: "a dead letter said and not written",
    instead: (write) => (write.collection === "dead_letters" && write.document ? undefined : write),
  },
  {
    name: "a change of a run written whatever its version",
    shownBy: "runs",
    instead: unconditional("runs", (write) => sets(write, "version"), "version"),
  },
  {
    name: "a head of a run without the alarm of its messages",
    shownBy: "runs",
    instead: unset("runs", "$set", "deliverAt", (write) => sets(write, "version")),
  },
  {
    name: "parts of a run said and not written",
    shownBy: "runs",
    instead: (write) => (write.collection === "run_parts" && write.document ? undefined : write),
  },
];
