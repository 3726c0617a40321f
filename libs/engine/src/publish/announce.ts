/** Tells schedulers and deliverers to look at new or moved records. Everything said here is a hint: the record's alarm is the truth. */
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
  for (const record of records) sort(record, ports.clock.now(), due, wakes);
  const accepted = records.flatMap(({ message }) =>
    message.run ? [] : { message: redactedConfiguration(message, ports.sha256) },
  );
  await Promise.all([
    accepted.length > 0 && ports.bus.publish("message.accepted", accepted),
    due.length > 0 && ports.bus.publish("message.due", due),
    wakes.length > 0 && ports.bus.publish("scheduler.wake", wakes),
  ]);
}

/** Each that is traced inside its own trace, which what is said of it then carries. */
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

/** For a caller that does not wait for its hints: one that the bus refuses is made up for by the alarm, and must not end the process. */
export function announceUnheard(ports: AnnouncePorts, records: readonly MessageRecord[]): void {
  announce(ports, records).catch(() => undefined);
}

/** As `announceUnheard`; a fan-out is no message, so nothing else is said of it. */
export function announceFanOut({ bus, clock }: AnnouncePorts, { shard }: FanOut): void {
  bus.publish("scheduler.wake", [{ shard, at: clock.now() }]).catch(() => undefined);
}

/** The lane has a free slot or turn, or a message that is new in line. */
export const wakeLane = (lane: LaneId, at: number): WakeEvent => ({
  shard: shardOf(lane),
  at,
  lane,
});

function sort(record: MessageRecord, now: number, due: Hint[], wakes: WakeEvent[]): void {
  const { message, state } = record;
  if (isFinished(state)) return;
  switch (state.kind) {
    case "due":
      due.push(hintOf(record));
      return;
    case "held":
      wakes.push({ shard: message.shard, at: state.dueAt });
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
