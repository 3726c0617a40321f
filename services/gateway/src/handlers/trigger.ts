/**
 * Handles `POST /v2/trigger/{destination}` and `POST /v2/batch/trigger`: publishes that start runs. Without a failure
 * function a failure is reported to the endpoint itself.
 */
import { startedText, triggerHeaders, type triggers } from "@posthaste/contract";
import { type Fault, fault, isFault, type PublishCommand } from "@posthaste/domain";
import { type PublishOutcome, type Published } from "@posthaste/engine";
import { type Random } from "@posthaste/ports";
import { type TargetHandler } from "../raw-handler.ts";
import { spendQuota } from "../quota.ts";
import { type BatchParts, publishItems } from "./batch.ts";
import { type PublishParts, publishHandler, type PublishVariant } from "./publish.ts";
import { type Handlers } from "./handler.ts";

const idLength = 21;

const trigger = (random: Random): PublishVariant => ({
  addHeaders: (given) => triggerHeaders(given, () => `wfr_${random.text(idLength)}`),
  commandFrom: startOf,
});

export const triggerHandler = (parts: PublishParts & { readonly random: Random }): TargetHandler =>
  publishHandler(parts, {
    ...trigger(parts.random),
    answerText: (published) => startedText(runOf(published)),
  });

export const triggerHandlers = (
  parts: BatchParts & { readonly random: Random },
): Handlers<keyof typeof triggers> => ({
  triggerBatch: async (asked) => {
    const spend = spendQuota.bind(undefined, parts, asked.tenant);
    const outcomes = await publishItems(parts, asked, spend, trigger(parts.random));
    if (isFault(outcomes)) return outcomes;
    const json = outcomes.map((outcome) => {
      const { createdAt, id } = runOf(outcome);
      const isKnown = "deduplicated" in outcome && outcome.deduplicated;
      return {
        ...{ workflowRunId: id, workflowCreatedAt: createdAt },
        ...(isKnown && { deduplicated: true as const }),
      };
    });
    return { status: 201, json };
  },
});

function runOf(started: PublishOutcome): NonNullable<Published["run"]> {
  if ("run" in started && started.run) return started.run;
  throw new Error("a start without its run");
}

/** Makes the command of a start, with the endpoint's failure function if none is named. */
function startOf(command: PublishCommand): PublishCommand | Fault {
  const { destination, policy, run } = command;
  if (run?.kind !== "start" || destination.kind !== "url")
    return fault("malformed", "a trigger starts a run of the workflow at a URL");
  const { failureCallback = failureFunctionAt(destination.url, policy.timeoutMs) } = policy;
  return { ...command, policy: { ...policy, failureCallback }, run: { ...run, isRequested: true } };
}

const failureFunctionAt = (url: string, timeoutMs: number) =>
  ({ url, method: "POST", headers: [], delayMs: 0, timeoutMs }) as const;
