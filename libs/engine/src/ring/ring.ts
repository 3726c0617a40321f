/** Rings the due alarms of some shards in rounds, and starts the work that each calls for (docs/design/record#the-alarm). */
import {
  type AlarmSource,
  alarmSources,
  type BulkAction,
  type LaneId,
  type MessageId,
  type RunRef,
  type Schedule,
  sizeOf,
  type TenantId,
  unreachable,
} from "@posthaste/domain";
import { type Alarms, type Hint, type Log } from "@posthaste/ports";
import { type BulkPorts, continueBulkActions } from "../bulk/bulk-actions.ts";
import { expandStored, type ExpandPorts } from "../publish/fan-out.ts";
import { followUp, type FollowUpPorts, type Outbox } from "../follow-up/follow-up.ts";
import { type FirePorts, fireSchedules } from "../schedules/fire.ts";
import { ringRuns } from "../runs/ring.ts";
import { type ServePorts } from "../lanes/turns.ts";

export type RingPorts = FollowUpPorts &
  ServePorts &
  ExpandPorts &
  FirePorts &
  BulkPorts & { readonly alarms: Alarms; readonly log: Log };

/** Work that may take long and may be asked for twice. Runs outside of the round, one task at a time per lane and per fan-out. */
export type Background = {
  /** Grants a flow lane, or admits from a queue. */
  serve(lane: LaneId): void;
  /** Expands a fan-out; a few at a time, since each holds the body of its children. */
  expand(parent: MessageId, task: () => Promise<void>): void;
  /** Works the outbox of an unfinished message, which is read when its turn comes. */
  followUpLater(tenant: TenantId, id: MessageId): void;
  /** When false, a batch of this kind would wait. */
  mayRun(kind: BatchKind): boolean;
  /** Starts a new batch with each call. `bytes`: held by the batch as long as it runs. */
  runBatch(kind: BatchKind, task: () => Promise<void>, bytes?: number): void;
};

export type BatchKind = "followUp" | "schedule" | "bulkAction" | "run";

/** The kind of batch that the alarms of a source start. Alarms of the other sources always ring. */
const batchOf: { readonly [Source in AlarmSource]: BatchKind | undefined } = {
  record: undefined,
  flow: undefined,
  queue: undefined,
  fanOut: undefined,
  followUp: "followUp",
  fact: "followUp",
  schedule: "schedule",
  bulkAction: "bulkAction",
  run: "run",
};

/** Returns the sources that may ring now. A kind with enough work keeps its alarms. */
export const sourcesToRing = (background: Pick<Background, "mayRun">): readonly AlarmSource[] =>
  alarmSources.filter((source) => {
    const kind = batchOf[source];
    return kind === undefined || background.mayRun(kind);
  });

export const sourcesOf = (kind: BatchKind): readonly AlarmSource[] =>
  alarmSources.filter((source) => batchOf[source] === kind);

/** `more`: the sources of which more alarms may be due. */
export type Round = { readonly rang: number; readonly more: ReadonlySet<AlarmSource> };

export async function ringOnce(
  ports: RingPorts,
  background: Background,
  shards: readonly number[],
  limitOfEach: number,
  sources: readonly AlarmSource[],
): Promise<Round> {
  const { rung, more } = await ports.alarms.ring(shards, limitOfEach, sources);
  const hints: Hint[] = [];
  const lanes = new Set<LaneId>();
  const outboxes: Outbox[] = [];
  let outboxBytes = 0;
  const schedules: Schedule[] = [];
  const actions: BulkAction[] = [];
  const runs: RunRef[] = [];
  for (const each of rung) {
    switch (each.kind) {
      case "hint":
        hints.push(each.hint);
        break;
      case "lane":
        lanes.add(each.lane);
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
        outboxes.push(each.record);
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
  for (const lane of lanes) background.serve(lane);
  if (outboxes.length > 0)
    background.runBatch("followUp", () => followUp(ports, outboxes), outboxBytes);
  if (runs.length > 0) background.runBatch("run", () => ringRuns(ports, runs));
  if (schedules.length > 0) background.runBatch("schedule", () => fireSchedules(ports, schedules));
  if (actions.length > 0)
    background.runBatch("bulkAction", () => continueBulkActions(ports, actions));
  if (hints.length > 0) await ports.bus.publish("message.due", hints);
  return { rang: rung.length, more };
}
