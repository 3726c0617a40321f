/**
 * Bulk actions: a gateway begins an action; the gateway or a scheduler works on it, also after a crash
 * (docs/design/bulk). Each step writes its progress after its effects (B2), conditional on the version, so that of
 * several workers one continues.
 */
import {
  advanced,
  beyondQuota,
  type BulkAction,
  bulkActionId,
  type BulkWork,
  type Fault,
  deferredAction,
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
import { wakeSchedulers } from "../publish/announce.ts";
import { cancelSteps, endNow, type MatchingPorts, type Stepped } from "./cancel-matching.ts";
import { type CancelRunsPorts, cancelRunsSteps } from "../runs/cancel-runs.ts";

export type BulkPorts = MatchingPorts &
  CancelRunsPorts & {
    readonly bulkActions: BulkActions;
    readonly bus: EventBus;
    readonly telemetry?: Telemetry;
  };

/** Says whether the caller's gateway works on an action, while the caller waits, or a scheduler later. */
type WorkedBy = "caller" | "later";

/** `isWorkedHere`: the gateway works on the action itself, so its alarm is set ahead; otherwise the alarm is set to now. */
export type Begin = { readonly isWorkedHere: boolean; readonly total: number };

export type Begun = { readonly action: BulkAction; readonly isNew: boolean };

/** Makes an action, or returns the equal one that is under way. Returns a fault when too many are under way. */
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
  if (isNew && !isWorkedHere) wake(bus, action, action.createdAt);
  return { action, isNew };
}

/**
 * Cancels, half a minute later, the runs that a tenant about to be closed then has. Called before the account is
 * closed, so that a crash between the two leaves neither undone.
 */
export async function cancelRunsSoon(
  ports: Pick<BulkPorts, "bulkActions" | "clock" | "ids">,
  tenant: TenantId,
): Promise<void> {
  const work = { kind: "cancelRuns", filter: {}, isOpenEnded: true } as const;
  const made = newAction(ports, tenant, work, { total: 0, aheadMs: limits.ringAheadMs });
  // Uses none of the tenant's own places.
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

const wake = (bus: EventBus, { shard }: BulkAction, at: number): void =>
  wakeSchedulers(bus, [{ shard, at, source: "bulkAction" }]);

/**
 * Works on an action step by step until it has ended, until `until` by `passedMs`, or until another worker has it. Returns the
 * action as far as it was worked here. An action left under way has its alarm ahead.
 */
export async function workBulkAction(
  ports: BulkPorts,
  action: BulkAction,
  until: number,
  by: WorkedBy = "caller",
): Promise<BulkAction> {
  const { bulkActions, clock, telemetry = noTelemetry } = ports;
  let current = action;
  if (!isUnderWay(action)) return action;
  for await (const { count, next } of steps(ports, action, () => clock.passedMs() < until)) {
    const moved = advanced(current, count, next, clock.now());
    if (count > 0) telemetry.metrics.count("posthaste_bulk_cancelled_total", by, count);
    if (!(await bulkActions.move(moved))) return current;
    current = moved;
  }
  return current;
}

/** Makes the steps of an action that is under way, from its place on, and begins none unless `mayBegin`. */
function steps(
  ports: BulkPorts,
  { tenant, work, upTo, place }: BulkAction,
  mayBegin: () => boolean,
): AsyncIterable<Stepped> {
  switch (work.kind) {
    case "cancel":
      return cancelSteps(ports, tenant, { filter: work.filter, upTo, place }, mayBegin);
    case "cancelRuns": {
      const { filter, isOpenEnded } = work;
      const step = { filter, after: place.after, ...(!isOpenEnded && { upTo }) };
      return cancelRunsSteps(ports, tenant, step, mayBegin);
    }
    default:
      return unreachable(work);
  }
}

/** Works on an action as `workBulkAction` does, and hands it to a scheduler if it is still under way at `until`. */
export async function workOrDefer(
  ports: BulkPorts,
  action: BulkAction,
  until: number,
  by: WorkedBy = "caller",
): Promise<BulkAction> {
  const left = await workBulkAction(ports, action, until, by);
  // This call made no step, so another worker may have the action.
  if (!isUnderWay(left) || left.version === action.version) return left;
  const { bulkActions, bus, clock } = ports;
  if (await bulkActions.move(deferredAction(left, clock.now()))) wake(bus, left, clock.now());
  return left;
}

/** How often a caller that waits for another worker's action reads it. */
const lookAgainMs = 500;

/** Waits for the end of an action, in whichever process it is worked on, until `until` by `passedMs`. Returns the action as it is then. */
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

/** The longest time for which one rung action is worked; it then rings again, behind the rest. */
const turnMsMax = 5_000;
/** The longest time for which all rung actions are worked; the rest ring again. */
const turnsMsMax = 30_000;

/**
 * Works on the rung actions, tenants in turn, so that each tenant has its share of the time. Ends within `turnsMsMax`
 * and the turn of one action.
 */
export async function continueBulkActions(
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
      await workOrDefer(ports, action, clock.passedMs() + turnMs, "later");
    }
  }
}
