/** Sends hints of new or moved records to schedulers and deliverers. If one is lost, the record's alarm rings. */
import {
  type FanOut,
  isFinished,
  type LaneId,
  type MessageRecord,
  originHash,
  redactedConfiguration,
  sentBytes,
  type Sha256Hex,
  shardOf,
  unreachable,
} from "@posthaste/domain";
import {
  type Clock,
  type EventBus,
  type Hint,
  type Records,
  type Tracer,
  type WakeEvent,
} from "@posthaste/ports";

export const hintOf = (record: MessageRecord): Hint => ({
  id: record.message.id,
  tenant: record.message.tenant,
  origin: originHash(record.message.url),
  epoch: record.epoch,
  bytes: sentBytes(record.message),
});

export type AnnouncePorts = {
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly sha256: Sha256Hex;
};

export async function announce(
  ports: AnnouncePorts,
  records: readonly MessageRecord[],
): Promise<void> {
  const due: Hint[] = [];
  const wakes: WakeEvent[] = [];
  for (const record of records) addHint(record, ports.clock.now(), due, wakes);
  const accepted = records.flatMap(({ message }) =>
    message.run ? [] : { message: redactedConfiguration(message, ports.sha256) },
  );
  await Promise.all([
    accepted.length > 0 && ports.bus.publish("message.accepted", accepted),
    due.length > 0 && ports.bus.publish("message.due", due),
    wakes.length > 0 && ports.bus.publish("scheduler.wake", wakes),
  ]);
}

/** Announces each traced record inside its own trace, which the published events then carry. */
export async function announceTraced(
  ports: AnnouncePorts,
  tracer: Tracer,
  records: readonly MessageRecord[],
): Promise<void> {
  if (!tracer.isOn) return announce(ports, records);
  const byTrace = Map.groupBy(records, ({ message }) => message.trace);
  await Promise.all(
    [...byTrace].map(([trace, those]) => tracer.within(trace, () => announce(ports, those))),
  );
}

/** Announces records without waiting. A hint that the bus refuses must not end the process; the alarm makes up for it. */
export function announceInBackground(
  ports: AnnouncePorts,
  records: readonly MessageRecord[],
): void {
  announce(ports, records).catch(() => undefined);
}

/** Announces a fan-out like `announceInBackground`, with a wake alone, since a fan-out is no message. */
export function announceFanOut({ bus, clock }: AnnouncePorts, { shard }: FanOut): void {
  wakeSchedulers(bus, [{ shard, at: clock.now(), source: "fanOut" }]);
}

/** Inserts records that continue accepted work. Returns the ones that did not exist. */
export async function insertAccepted(
  { records }: { readonly records: Pick<Records, "insert"> },
  made: readonly MessageRecord[],
): Promise<readonly MessageRecord[]> {
  if (made.length === 0) return [];
  const inserts = made.map((record) => ({ record }));
  const inserted = await records.insert(inserts, "accepted");
  return made.filter((_, n) => inserted[n] === "inserted");
}

/** Tells schedulers of alarms, without waiting. The alarms are stored, so they ring late if no scheduler receives this. */
export function wakeSchedulers(bus: EventBus, wakes: readonly WakeEvent[]): void {
  if (wakes.length > 0) bus.publish("scheduler.wake", wakes).catch(() => undefined);
}

/** Returns the wake of a lane that has a free slot or turn, or a new message in line. */
export const wakeLane = (lane: LaneId, at: number): WakeEvent => ({
  shard: shardOf(lane),
  at,
  lane,
});

function addHint(record: MessageRecord, now: number, due: Hint[], wakes: WakeEvent[]): void {
  const { message, state } = record;
  if (isFinished(state)) return;
  switch (state.kind) {
    case "due":
      due.push(hintOf(record));
      return;
    case "held":
      wakes.push({ shard: message.shard, at: state.dueAt, source: "record" });
      return;
    case "waiting":
      if (message.flow) wakes.push(wakeLane(message.flow, now));
      return;
    case "queued":
      wakes.push(wakeLane(state.queue, now));
      return;
    case "claimed":
      return;
    default:
      return unreachable(state);
  }
}
