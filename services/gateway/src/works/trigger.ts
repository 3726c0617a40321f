/**
 * `POST /v2/trigger/{destination}` and `POST /v2/batch/trigger`: publishes that start runs. Without a failure function the
 * endpoint itself is told of a failure.
 */
import { startedText, triggerHeaders, type triggers } from "@posthaste/contract";
import { type Fault, fault, isFault, type PublishCommand } from "@posthaste/domain";
import { type RunPorts, type StartedAs, startRunOf, startRuns } from "@posthaste/engine";
import { type Random, type Telemetry, type Tenant } from "@posthaste/ports";
import { countAccepted } from "../accepted.ts";
import { parsed } from "../parsed.ts";
import { type RawWork } from "../raw-door.ts";
import { type RoomParts, takeRoom } from "../room.ts";
import { type BatchParts, judgeItems } from "./batch.ts";
import { type PublishParts } from "./publish.ts";
import { attributesOfRun, inTrace, traced } from "../trace.ts";
import { type Works } from "./work.ts";

const idLength = 21;
const newId = (random: Random) => (): string => `wfr_${random.text(idLength)}`;

export const triggerWork =
  (parts: PublishParts & { readonly random: Random }): RawWork =>
  async ({ req, arrivedMs, tenant, callerIp, target, body }) => {
    const { accept, judge, random, telemetry } = parts;
    const { tracer } = telemetry;
    const { destination, queryConfig } = target;
    const judges = judge(tenant, callerIp);
    const command = await parsed({
      ...judges,
      rawHeaders: triggerHeaders(req.rawHeaders, newId(random)),
      queryConfig,
      destination,
      body,
    });
    if (isFault(command)) return command;
    const start = startOf(command);
    if (isFault(start)) return start;
    const started = await (tracer.isOn
      ? traced(
          tracer,
          { req, begunMsAgo: accept.clock.passedMs() - arrivedMs },
          start,
          (it) => begin(parts, accept, tenant, [it]),
          ([it]) => (it ? attributesOfRun(it.run) : {}),
        )
      : begin(parts, accept, tenant, [start]));
    if (isFault(started)) return started;
    return { status: 200, text: started.map(({ run }) => startedText(run)).join("") };
  };

export const triggerWorks = (
  parts: BatchParts & { readonly random: Random },
): Works<keyof typeof triggers> => ({
  triggerBatch: async ({ tenant, callerIp, body }) => {
    const { groups, judge, random, telemetry } = parts;
    const completed = (given: readonly string[]) => triggerHeaders(given, newId(random));
    const judged = await judgeItems(groups, body, { ...judge(tenant, callerIp), completed });
    if (isFault(judged)) return judged;
    const starts: PublishCommand[] = [];
    for (const [i, { command }] of judged.entries()) {
      const start = startOf(command);
      if (isFault(start)) return fault(start.fault, `[${i}]: ${start.text}`);
      starts.push(inTrace(telemetry.tracer, start));
    }
    const started = await begin(parts, parts, tenant, starts);
    if (isFault(started)) return started;
    const json = started.map(({ isNew, run: { createdAt, id } }) => ({
      ...{ workflowRunId: id, workflowCreatedAt: createdAt },
      ...(!isNew && { deduplicated: true as const }),
    }));
    return { status: 201, json };
  },
});

/** Begins the runs once there is room for all of them. */
async function begin(
  parts: RoomParts & { readonly telemetry: Telemetry },
  ports: RunPorts,
  tenant: Tenant,
  starts: readonly PublishCommand[],
): Promise<readonly StartedAs[] | Fault> {
  const noRoom = await takeRoom(parts, tenant, { messages: starts.length, queues: [] });
  if (noRoom) return noRoom.refused;
  const started = await startRuns(starts, (start) => startRunOf(ports, start));
  if (isFault(started)) return started;
  countAccepted(
    parts.telemetry.metrics,
    started.map(({ isNew }) => ({ deduplicated: !isNew })),
  );
  return started;
}

/** Makes the command of a start, with the endpoint's failure function where none is named. */
function startOf(command: PublishCommand): PublishCommand | Fault {
  const { destination, policy, run } = command;
  if (run?.kind !== "start" || destination.kind !== "url")
    return fault("malformed", "a trigger starts a run of the workflow at a URL");
  const { failureCallback = told(destination.url, policy.timeoutMs) } = policy;
  return { ...command, policy: { ...policy, failureCallback }, run: { ...run, isRequested: true } };
}

const told = (url: string, timeoutMs: number) =>
  ({ url, method: "POST", headers: [], delayMs: 0, timeoutMs }) as const;
