/**
 * Gives turns: the first messages in a queue's line continue as far as its parallelism allows (docs/design/queues#turns). Correctness comes from
 * the store's one call; two processes that admit at once do no harm.
 */
import { type AlarmSource, isQueueId, type LaneId, type QueueId, shardOf } from "@posthaste/domain";
import {
  type Admitted,
  type Clock,
  type EventBus,
  type Hint,
  noTelemetry,
  type Queues,
  type Telemetry,
  type WakeEvent,
} from "@posthaste/ports";
import { wakeLane } from "../publish/announce.ts";
import { cancelMessages, type CancelPorts } from "../bulk/cancel.ts";
import { grant, type GrantPorts, inRounds } from "./grant.ts";

export type TurnPorts = {
  readonly queues: Queues;
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly telemetry?: Telemetry;
};

export type ServePorts = TurnPorts & CancelPorts & GrantPorts;

export type NextAlarm = { readonly source: AlarmSource; readonly at: number };

/** Serves a lane now. Returns the next alarm of the lane or its messages, where a timer for it is worthwhile. */
export async function serveLane(ports: ServePorts, lane: LaneId): Promise<NextAlarm | undefined> {
  const ofQueue = isQueueId(lane);
  const at = await (ofQueue ? giveTurns(ports, lane) : grant(ports, lane));
  return at === undefined ? undefined : { source: ofQueue ? "record" : "flow", at };
}

/** Gives the free turns of a queue. Returns when the first message that holds a turn and waits is due. */
const giveTurns = (ports: ServePorts, id: QueueId): Promise<number | undefined> =>
  inRounds(ports, id, async () => {
    const admitted = await admit(ports, id);
    if (!admitted) return { more: false };
    if (admitted.ended.length > 0) await cancelMessages(ports, admitted.tenant, admitted.ended);
    return hasMore(admitted) ? { more: true } : { more: false, wakeAt: admitted.heldUntil };
  });

/** Looks at a queue once, and reports the turns that it has given to schedulers and deliverers. */
async function admit(ports: TurnPorts, id: QueueId): Promise<Admitted | undefined> {
  const { bus, queues } = ports;
  const [admitted] = await queues.admit([id]);
  if (admitted) await announceTurns(ports, admitted, (hints) => bus.publish("message.due", hints));
  return admitted;
}

/** Reports the turns that a look at a queue has given. `say` takes the hints of due messages; the schedulers get the rest. */
export async function announceTurns(
  { bus, clock, telemetry }: TurnPorts,
  { queue, given, hints, claimed, flows, heldUntil }: Admitted,
  say: (hints: readonly Hint[]) => Promise<void>,
): Promise<void> {
  const { metrics } = telemetry ?? noTelemetry;
  const dueNow = hints.length + (claimed ? 1 : 0);
  const later = given - dueNow;
  if (dueNow > 0) metrics.count("posthaste_turns_given_total", "now", dueNow);
  if (later > 0) metrics.count("posthaste_turns_given_total", "later", later);
  const now = clock.now();
  const wakes: WakeEvent[] = flows.map((flow) => wakeLane(flow, now));
  if (heldUntil !== undefined)
    wakes.push({ shard: shardOf(queue), at: heldUntil, source: "record" });
  await Promise.all([
    hints.length > 0 && say(hints),
    wakes.length > 0 && bus.publish("scheduler.wake", wakes),
  ]);
}

/** Reports whether a caller has to leave more to the schedulers. */
export const hasMore = ({ ended, more }: Admitted): boolean => more || ended.length > 0;
