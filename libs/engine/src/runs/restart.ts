/** Restarts a failed run: makes a new run with its payload and its plan, from the beginning. The failed run stays as it is. */
import {
  changedFlow,
  changedPolicy,
  type Fault,
  fault,
  isFault,
  isMadeOf,
  merged,
  type Overrides,
  type Run,
  type RunCommand,
  type RunId,
  type RunIn,
  type RunPlan,
  usualDelivery,
} from "@posthaste/domain";
import { gone, type RunPorts, startRunOf } from "./start.ts";

/** `id`: of the new run. Returns the run of that id if it is active and was already made by a restart of this failed run. */
export async function restartRun(
  ports: RunPorts,
  failed: RunIn<"failed">,
  id: RunId,
  overrides: Overrides,
): Promise<Run | Fault> {
  const payload = await ports.runs.part(failed, "start");
  if (!payload) return gone;
  const { callerIp, dialect, tenant, url } = failed;
  const { failureFunction, features, headers, isRequested, policy } = planWith(
    failed.plan,
    overrides,
  );
  const { postponement } = overrides;
  const command: RunCommand<"start"> = {
    tenant,
    dialect,
    destination: { kind: "url", url },
    method: "POST",
    headers: payload.sent?.headers ?? usualDelivery(failed).headers,
    body: payload.body,
    policy: { ...policy, ...(failureFunction && { failureCallback: failureFunction }) },
    ...(postponement && { postponement }),
    callerIp,
    hop: 1,
    run: { kind: "start", id, features, headers, ...(isRequested && { isRequested }) },
  };
  const started = await startRunOf(ports, command, failed.key);
  if (isFault(started)) return started;
  const { isNew, run } = started;
  return isNew || isMadeOf(run, failed) ? run : isActiveAlready;
}

/** Returns the plan of the failed run with the changes that the headers ask for. */
export function planWith(
  { trace: _trace, ...plan }: RunPlan,
  { flow: change, headers, policy }: Overrides,
): RunPlan {
  const { callback: _, failureCallback = plan.failureFunction, ...own } = policy;
  const flow = changedFlow(plan.policy.flow, change);
  return {
    ...plan,
    headers: merged(plan.headers, headers),
    policy: { ...changedPolicy(plan.policy, own), ...(flow && { flow }) },
    ...(failureCallback && { failureFunction: failureCallback }),
  };
}

export const isActiveAlready: Fault = fault(
  "malformed",
  "a workflow already exists, can not initialize a new one with same id",
);
