/** A failed run once more: a new run with its payload and its plan, from the beginning. The failed one stays what it is. */
import {
  type Fault,
  fault,
  merged,
  type Overrides,
  type PublishCommand,
  type RunId,
  type RunIn,
} from "@posthaste/domain";
import { type RunPorts, startRunOf } from "./start.ts";

/** `id`: of the new run, which must not be one that is active. */
export async function restartRun(
  ports: RunPorts,
  failed: RunIn<"failed">,
  id: RunId,
  { headers, policy, postponement }: Overrides,
) {
  const payload = await ports.runs.part(failed, "start");
  if (!payload) return gone;
  const { callerIp, dialect, plan, tenant, url } = failed;
  const { failureFunction } = plan;
  const command: PublishCommand = {
    tenant,
    dialect,
    destination: { kind: "url", url },
    method: "POST",
    headers: [["Content-Type", "application/json"]],
    body: payload.body,
    policy: {
      ...plan.policy,
      ...(failureFunction && { failureCallback: failureFunction }),
      ...policy,
    },
    ...(postponement && { postponement }),
    callerIp,
    hop: 1,
    run: { kind: "start", id, features: plan.features, headers: merged(plan.headers, headers) },
  };
  const { isNew, run } = await startRunOf(ports, command);
  return isNew ? run : isActiveAlready;
}

const gone: Fault = fault("not_found", "the run is not kept any more");
const isActiveAlready: Fault = fault(
  "malformed",
  "a workflow already exists, can not initialize a new one with same id",
);
