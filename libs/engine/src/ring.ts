/** Rings the due alarms of some shards in rounds, and starts the work that each calls for (docs/design/record#the-alarm). */
import {
  type AlarmSource,
  alarmSources,
  type BulkAction,
  type InRun,
  type LaneId,
  type MessageId,
  type Schedule,
  sizeOf,
  type TenantId,
  unreachable,
} from "@posthaste/domain";
import { type Alarms, type EventBus, type Hint, type Log } from "@posthaste/ports";
import { type BulkPorts, goOnWithBulkActions } from "./bulk/bulk-actions.ts";
import { expandStored, type ExpandPorts } from "./publish/fan-out.ts";
import { followUp, type FollowUpPorts, type Outbox } from "./follow-up/follow-up.ts";
import { type FirePorts, fireSchedules } from "./schedules/fire.ts";
import { ringRuns } from "./runs/ring.ts";
import { type ServePorts } from "./lanes/turns.ts";

export type RingPorts = FollowUpPorts &
  ServePorts &
  ExpandPorts &
  FirePorts &
  BulkPorts & { readonly alarms: Alarms; readonly log: Log };

/** Work that may take long and may be asked for twice. Runs outside of the round, one task at a time per lane and per fan-out. */
export type Background = {
  /** Grants a flow lane, or admits from a queue. */
  grant(lane: LaneId): void;
  /** Expands a fan-out; a few at a time, since each holds the body of its children. */
  expand(parent: MessageId, task: () => Promise<void>): void;
  /** Works outboxes that hold `bytes` with their messages. Starts a new batch with each call. */
  followUp(task: () => Promise<void>, bytes: number): void;
  /** Works the outbox of an unfinished message, which is read when its turn comes. */
  followUpLater(tenant: TenantId, id: MessageId): void;
  /** When false, finished records that ring now would wait. */
  readonly hasRoomToFollowUp: boolean;
  /** Fires schedules. Starts a new batch with each call. */
  fire(task: () => Promise<void>): void;
  readonly hasRoomToFire: boolean;
  /** Works bulk actions. Starts a new batch with each call. */
  actInBulk(task: () => Promise<void>): void;
  readonly hasRoomToAct: boolean;
  /** Works runs whose alarms are due. Starts a new batch with each call. */
  ringRuns(task: () => Promise<void>): void;
  readonly hasRoomToRingRuns: boolean;
};

type Room = Pick<
  Background,
  "hasRoomToAct" | "hasRoomToFire" | "hasRoomToFollowUp" | "hasRoomToRingRuns"
>;

/**
 * Returns the sources to ring now. Every other source keeps its alarms: facts while the bus is away, all follow-ups, schedules,
 * bulk actions and runs while enough of their kind are being worked.
 */
export function sourcesNow(
  bus: EventBus,
  { hasRoomToAct, hasRoomToFire, hasRoomToFollowUp, hasRoomToRingRuns }: Room,
): readonly AlarmSource[] {
  const areRung: { readonly [Source in AlarmSource]: boolean } = {
    record: true,
    fanOut: true,
    followUp: hasRoomToFollowUp,
    fact: hasRoomToFollowUp && bus.isUp(),
    schedule: hasRoomToFire,
    bulkAction: hasRoomToAct,
    run: hasRoomToRingRuns,
  };
  return alarmSources.filter((source) => areRung[source]);
}

/** `more`: more alarms may be due. */
export type Round = { readonly rang: number; readonly more: boolean };

export async function ringOnce(
  ports: RingPorts,
  background: Background,
  shards: readonly number[],
  limitOfEach: number,
): Promise<Round> {
  const sources = sourcesNow(ports.bus, background);
  const { rung, more } = await ports.alarms.ring(shards, limitOfEach, sources);
  const hints: Hint[] = [];
  const outboxes: Outbox[] = [];
  let outboxBytes = 0;
  const schedules: Schedule[] = [];
  const actions: BulkAction[] = [];
  const runs: Pick<InRun, "key" | "root">[] = [];
  for (const each of rung) {
    switch (each.kind) {
      case "hint":
        hints.push(each.hint);
        break;
      case "lane":
        background.grant(each.lane);
        break;
      case "fanOut": {
        // The fan-out is read when its turn comes, so its body is not held until then.
        const { id, tenant } = each;
        background.expand(id, () => expandStored(ports, tenant, id));
        break;
      }
      case "outbox":
        background.followUpLater(each.tenant, each.id);
        break;
      case "followUp":
        outboxes.push({ message: each.record.message, items: each.record.outbox });
        outboxBytes += sizeOf(each.record);
        break;
      case "schedule":
        schedules.push(each.schedule);
        break;
      case "bulkAction":
        actions.push(each.action);
        break;
      case "run":
        runs.push(each.run);
        break;
      default:
        unreachable(each);
    }
  }
  if (outboxes.length > 0) background.followUp(() => followUp(ports, outboxes), outboxBytes);
  if (runs.length > 0) background.ringRuns(() => ringRuns(ports, runs));
  if (schedules.length > 0) background.fire(() => fireSchedules(ports, schedules));
  if (actions.length > 0) background.actInBulk(() => goOnWithBulkActions(ports, actions));
  if (hints.length > 0) await ports.bus.publish("message.due", hints);
  return { rang: rung.length, more };
}
