/** `/v2/workflows/dlq/restart`: failed runs once more. */
import { givenRunId, parseOverrides, type restarts } from "@posthaste/contract";
import { type DlqId, dlqId, fault, type Fault, isFault, type Run, runId } from "@posthaste/domain";
import { restartRun, type RunPorts } from "@posthaste/engine";
import { type Random, type RunLog, type Tenant } from "@posthaste/ports";
import { type Judge } from "../judge.ts";
import { type Works } from "./work.ts";

export type RestartParts = RunPorts & {
  readonly runLog: RunLog;
  readonly random: Random;
  readonly judge: Judge;
};

type Asked = {
  readonly tenant: Tenant;
  readonly callerIp: string;
  readonly rawHeaders: readonly string[];
};

const idLength = 21;

export function restartWorks(parts: RestartParts): Works<keyof typeof restarts> {
  const { judge, random, runLog } = parts;

  /** In the order of the list. */
  async function restart(
    { tenant, callerIp, rawHeaders }: Asked,
    dlqIds: readonly DlqId[],
  ): Promise<readonly Run[] | Fault> {
    const overrides = parseOverrides({ ...judge(tenant, callerIp), rawHeaders });
    if (isFault(overrides)) return overrides;
    const given = givenRunId(rawHeaders);
    if (given !== undefined && dlqIds.length > 1)
      return fault("malformed", "Workflow-RunId: names one run, and several are restarted");
    const { items } = await runLog.failed(tenant.id, { dlqIds }, { limit: dlqIds.length });
    const made: Run[] = [];
    for (const failed of items) {
      const id = runId(given ?? `wfr_${random.text(idLength)}`);
      const run = await restartRun(parts, failed, id, overrides);
      if (isFault(run)) return run;
      made.push(run);
    }
    return made;
  }

  const restartOne = async (asked: Asked, id: string) => {
    const made = await restart(asked, [dlqId(id)]);
    if (isFault(made)) return made;
    const [run] = made;
    return run
      ? ({ status: 200, json: startedJson(run) } as const)
      : fault("not_found", `dead letter ${id.slice(0, 128)} not found`);
  };

  return {
    restartRun: (asked) => restartOne(asked, asked.param("dlqId")),
    restartRunOfLetter: (asked) => restartOne(asked, asked.param("dlqId")),
    restartRuns: async (asked) => {
      const made = await restart(asked, asked.query);
      return isFault(made) ? made : { status: 200, json: { workflowRuns: made.map(startedJson) } };
    },
  };
}

const startedJson = ({ createdAt, id }: Run) => ({
  workflowRunId: id,
  workflowCreatedAt: createdAt,
});
