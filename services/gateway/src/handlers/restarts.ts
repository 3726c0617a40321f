/** `/v2/workflows/dlq/restart` and `/resume`: begins failed runs again, from the start or from where they failed. */
import {
  type FailedRunQuery,
  givenRunId,
  parseOverrides,
  type restarts,
} from "@posthaste/contract";
import {
  dlqId,
  fault,
  type Fault,
  faultOfFlow,
  isFault,
  type Overrides,
  refusalOfCallback,
  type Run,
  type RunId,
  runId,
  type RunIn,
  type TokenScope,
} from "@posthaste/domain";
import { restartRun, resumeRun, type RunPorts } from "@posthaste/engine";
import { type Random, type Tenant } from "@posthaste/ports";
import { type ContextOf } from "../parse-context.ts";
import { failedPage } from "./run-logs.ts";
import { type RunLogParts } from "./run-readings.ts";
import { type WithReadPermit, type Handlers } from "./handler.ts";

export type RestartParts = RunPorts &
  RunLogParts & { readonly random: Random; readonly contextOf: ContextOf };

type Asked = {
  readonly tenant: Tenant;
  readonly scope: TokenScope;
  readonly callerIp: string;
  readonly rawHeaders: readonly string[];
  readonly withPermit: WithReadPermit;
};

/** Makes a new run, with the id `id`, of a failed one. */
type Again = (
  ports: RunPorts,
  failed: RunIn<"failed">,
  id: RunId,
  overrides: Overrides,
) => Promise<Run | Fault>;

const idLength = 21;

export function restartHandlers(parts: RestartParts): Handlers<keyof typeof restarts> {
  const { contextOf, random, reads } = parts;
  const newId = (): string => `wfr_${random.text(idLength)}`;

  const overridesOf = ({ callerIp, rawHeaders, tenant }: Asked): Overrides | Fault =>
    parseOverrides({ ...contextOf(tenant, callerIp), rawHeaders });

  const one = async (again: Again, asked: Asked, letter: string) => {
    const overrides = overridesOf(asked);
    if (isFault(overrides)) return overrides;
    const named = { dlqIds: [dlqId(letter)] };
    const found = await asked.withPermit((permit) =>
      reads(permit).failedRuns(asked.tenant.id, named, { limit: 1 }),
    );
    if (isFault(found)) return found;
    const [failed] = found.items;
    if (!failed) return fault("not_found", `dead letter ${letter.slice(0, 128)} not found`);
    const refused = refusalOf(failed, overrides, asked.scope);
    if (refused) return refused;
    const run = await again(
      parts,
      failed,
      runId(givenRunId(asked.rawHeaders) ?? newId()),
      overrides,
    );
    return isFault(run) ? run : ({ status: 200, json: startedJson(run) } as const);
  };

  /** Restarts or resumes the failed runs of a page, in the order of the list. */
  const several = async (again: Again, asked: Asked & { readonly query: FailedRunQuery }) => {
    const overrides = overridesOf(asked);
    if (isFault(overrides)) return overrides;
    const given = givenRunId(asked.rawHeaders);
    const page = await failedPage(parts, asked.tenant.id, asked.query, asked.withPermit);
    if (isFault(page)) return page;
    const { cursor, items } = page;
    if (given !== undefined && items.length > 1)
      return fault("malformed", "Workflow-RunId: names one run, but the call selects several");
    const refused = items.map((failed) => refusalOf(failed, overrides, asked.scope)).find(isFault);
    if (refused) return refused;
    const made: Run[] = [];
    for (const failed of items) {
      const run = await again(parts, failed, runId(given ?? newId()), overrides);
      // The run was swept after the list was read.
      if (isFault(run) && run.fault === "not_found") continue;
      if (isFault(run)) return run;
      made.push(run);
    }
    const workflowRuns = made.map(startedJson);
    return {
      status: 200,
      json: { ...(cursor !== undefined && { cursor }), workflowRuns },
    } as const;
  };

  return {
    restartRun: (asked) => one(restartRun, asked, asked.param("dlqId")),
    restartRunOfLetter: (asked) => one(restartRun, asked, asked.param("dlqId")),
    restartRuns: (asked) => several(restartRun, asked),
    resumeRun: (asked) => one(resumeRun, asked, asked.param("dlqId")),
    resumeRunOfLetter: (asked) => one(resumeRun, asked, asked.param("dlqId")),
    resumeRuns: (asked) => several(resumeRun, asked),
  };
}

const refusalOf = (
  { plan: { policy } }: RunIn<"failed">,
  overrides: Overrides,
  scope: TokenScope,
): Fault | undefined =>
  faultOfFlow(policy.flow, overrides.flow) ?? refusalOfCallback(policy, overrides.policy, scope);

const startedJson = ({ createdAt, id }: Run) => ({
  workflowRunId: id,
  workflowCreatedAt: createdAt,
});
