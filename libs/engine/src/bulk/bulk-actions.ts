/**
 * Bulk actions: begun by a gateway, worked by it or by a scheduler, gone on with after a crash (docs/design/bulk). Progress is
 * written after the effects of a step (B2), under the version, so of several workers one goes on.
 */
import {
  advanced,
  beyondQuota,
  type BulkAction,
  bulkActionId,
  type BulkWork,
  type Fault,
  handedOn,
  isUnderWay,
  limits,
  newBulkAction,
  type TenantId,
  unreachable,
} from "@posthaste/domain";
import {
  type BulkActions,
  type EventBus,
  noTelemetry,
  pause,
  type Telemetry,
} from "@posthaste/ports";
import { cancelStep, endNow, type MatchingPorts, type Stepped } from "./cancel-matching.ts";
import { type CancelRunsPorts, cancelRunsStep } from "../runs/cancel-runs.ts";

export type BulkPorts = MatchingPorts &
  CancelRunsPorts & {
    readonly bulkActions: BulkActions;
    readonly bus: EventBus;
    readonly telemetry?: Telemetry;
  };

/** Where an action is worked: while its caller waits, or by a scheduler. */
type WorkedBy = "caller" | "later";

/** A gateway that works an action itself sets its alarm ahead; one that does not, to now. */
export type Begin = { readonly isWorkedHere: boolean; readonly total: number };

export type Begun = { readonly action: BulkAction; readonly isNew: boolean };

/** Makes an action, or finds the equal one that is under way. A fault: too many are. */
export async function beginBulkAction(
  ports: BulkPorts,
  tenant: TenantId,
  work: BulkWork,
  { isWorkedHere, total }: Begin,
): Promise<Begun | Fault> {
  const { bulkActions, bus } = ports;
  const made = newAction(ports, tenant, work, {
    total,
    aheadMs: isWorkedHere ? limits.ringAheadMs : 0,
  });
  const action = await bulkActions.add(made, limits.bulkActionsMax);
  if (action === "full") return beyondQuota("maxBulkActions", limits.bulkActionsMax);
  const isNew = action.id === made.id;
  if (isNew && !isWorkedHere) tell(bus, action, action.createdAt);
  return { action, isNew };
}

/**
 * Of a tenant that is about to be closed: whatever run there is then is cancelled half a minute later. Before the account is closed,
 * since a crash between the two may leave neither undone.
 */
export async function cancelRunsSoon(
  ports: Pick<BulkPorts, "bulkActions" | "clock" | "ids">,
  tenant: TenantId,
): Promise<void> {
  const work = { kind: "cancelRuns", filter: {}, isOpenEnded: true } as const;
  const made = newAction(ports, tenant, work, { total: 0, aheadMs: limits.ringAheadMs });
  // Beside as many as the tenant itself may have under way.
  await ports.bulkActions.add(made, limits.bulkActionsMax + 1);
}

function newAction(
  ports: Pick<BulkPorts, "clock" | "ids">,
  tenant: TenantId,
  work: BulkWork,
  { total, aheadMs }: { readonly total: number; readonly aheadMs: number },
): BulkAction {
  const upTo = endNow(ports);
  const id = bulkActionId(upTo.id.replace(/^msg_/, "bulk_"));
  return newBulkAction({ id, tenant, work, upTo, total, createdAt: upTo.at }, upTo.at + aheadMs);
}

/** A hint: without it the alarm is found late. */
function tell(bus: EventBus, { shard }: BulkAction, at: number): void {
  bus.publish("scheduler.wake", [{ shard, at }]).catch(() => undefined);
}

/**
 * Step by step, until it has ended, `until` by the clock, or another worker has it. Answers as far as it has come here; the alarm of one that is
 * left under way is ahead.
 */
export async function workBulkAction(
  ports: BulkPorts,
  action: BulkAction,
  until: number,
  by: WorkedBy = "caller",
): Promise<BulkAction> {
  const { bulkActions, clock, telemetry = noTelemetry } = ports;
  let current = action;
  while (isUnderWay(current) && clock.passedMs() < until) {
    const { count, next } = await step(ports, current);
    const moved = advanced(current, count, next, clock.now());
    if (count > 0) telemetry.metrics.count("posthaste_bulk_cancelled_total", by, count);
    if (!(await bulkActions.move(moved))) return current;
    current = moved;
  }
  return current;
}

function step(ports: BulkPorts, { tenant, work, upTo, place }: BulkAction): Promise<Stepped> {
  switch (work.kind) {
    case "cancel":
      return cancelStep(ports, tenant, { filter: work.filter, upTo, place });
    case "cancelRuns": {
      const { filter, isOpenEnded } = work;
      const { after } = place;
      return cancelRunsStep(ports, tenant, { filter, after, ...(!isOpenEnded && { upTo }) });
    }
    default:
      return unreachable(work);
  }
}

/** As `workBulkAction`; what is left under way then is handed on to a scheduler. */
export async function workOrHandOn(
  ports: BulkPorts,
  action: BulkAction,
  until: number,
  by: WorkedBy = "caller",
): Promise<BulkAction> {
  const left = await workBulkAction(ports, action, until, by);
  // Without a step of this call another worker may have it.
  if (!isUnderWay(left) || left.version === action.version) return left;
  const { bulkActions, bus, clock } = ports;
  if (await bulkActions.move(handedOn(left, clock.now()))) tell(bus, left, clock.now());
  return left;
}

/** So often a caller that waits for an action of another worker looks at it. */
const lookAgainMs = 500;

/** As it is when it has ended, or at `until`, of `passedMs`: whichever process works it. */
export async function endOfBulkAction(
  { bulkActions, clock }: Pick<BulkPorts, "bulkActions" | "clock">,
  action: BulkAction,
  until: number,
): Promise<BulkAction> {
  let current = action;
  while (isUnderWay(current) && clock.passedMs() < until) {
    await pause(clock, Math.min(lookAgainMs, until - clock.passedMs()));
    current = (await bulkActions.get(current.tenant, current.id)) ?? current;
  }
  return current;
}

/** So long each of those that rang is worked at the most: then it rings again, behind the rest. */
const turnMsMax = 5_000;
/** And so long all of them; those that are left ring again. */
const turnsMsMax = 30_000;

/** What has rung, the tenants in turns: each has its share of the time, however many another has. Ends within the turns of all. */
export async function goOnWithBulkActions(
  ports: BulkPorts,
  actions: readonly BulkAction[],
): Promise<void> {
  const { clock } = ports;
  const until = clock.passedMs() + turnsMsMax;
  const ofTenants = [...Map.groupBy(actions, ({ tenant }) => tenant).values()];
  const turnMs = Math.min(turnMsMax, turnsMsMax / ofTenants.length);
  for (let nth = 0; ofTenants.some(({ length }) => nth < length); nth++) {
    for (const action of ofTenants.flatMap((ofTenant) => ofTenant[nth] ?? [])) {
      if (clock.passedMs() >= until) return;
      await workOrHandOn(ports, action, clock.passedMs() + turnMs, "later");
    }
  }
}
