/**
 * Handles `POST /v2/publish/{destination}`, `/v2/enqueue/{queue}/{destination}`, whose target names the queue, and
 * the trigger, which completes a publish. Headers are read by the one table once, the body stays bytes, and the
 * answer follows the durable record (I1).
 */
import {
  bytesPerTurn,
  type FlatHeaders,
  parsePublish,
  type PublishInput,
  publishResultText,
  readPublish,
} from "@posthaste/contract";
import { runToEnd } from "@posthaste/http";
import { type Fault, isFault, type PublishCommand } from "@posthaste/domain";
import {
  publish,
  type Published,
  type PublishedGroup,
  type RunPorts,
  type SpendQuota,
} from "@posthaste/engine";
import { type Metrics, type Queues, type Telemetry } from "@posthaste/ports";
import { groupOf, type ContextOf } from "../parse-context.ts";
import { groupResultTexts } from "../published-texts.ts";
import { type BacklogQuota, type Intake, type Rates, spendQuota } from "../quota.ts";
import { type ReadsIn } from "../reads.ts";
import { type TargetHandler } from "../raw-handler.ts";
import { attributesOfPublish, traced, traceSteps } from "../trace.ts";

export type PublishParts = RunPorts & {
  readonly backlog: BacklogQuota;
  readonly queues: Queues;
  readonly contextOf: ContextOf;
  readonly rates: Rates;
  readonly reads: ReadsIn;
  readonly telemetry: Telemetry;
  readonly intake: Intake;
};

/** An endpoint that publishes with headers and a command of its own. */
export type PublishVariant = {
  readonly addHeaders: (given: FlatHeaders) => FlatHeaders;
  /** Returns the command that this endpoint makes of the parsed one. */
  readonly commandFrom: (command: PublishCommand) => PublishCommand | Fault;
};

/** `answerText`: the text of the answer, if the endpoint has its own. */
export function publishHandler(
  parts: PublishParts,
  variant?: PublishVariant & { readonly answerText: (published: Published) => string },
): TargetHandler {
  const { clock, groups, contextOf, telemetry } = parts;
  const { tracer, metrics } = telemetry;
  return async ({ req, arrivedMs, tenant, callerIp, target, queue, body }) => {
    const { destination } = target;
    // No await without a group, since every message passes here.
    const group =
      destination.kind === "group" ? await groupOf(groups, tenant, destination) : undefined;
    const parsing = parsed({
      ...contextOf(tenant, callerIp),
      rawHeaders: variant ? variant.addHeaders(req.rawHeaders) : req.rawHeaders,
      queryConfig: target.queryConfig,
      destination,
      ...(group?.headers && { defaultsOf: () => group.headers }),
      queue,
      body,
    });
    const given = parsing instanceof Promise ? await parsing : parsing;
    const command = variant && !isFault(given) ? variant.commandFrom(given) : given;
    if (isFault(command)) return command;
    const { run } = command;
    const spend: SpendQuota = (need) => spendQuota(parts, tenant, need);
    // A run has a trace of its own from its start on. A publish of its endpoint for it begins no trace.
    const begins = tracer.isOn && (!run || run.kind === "start");
    const published = await (begins
      ? traced(
          tracer,
          { req, begunMsAgo: clock.passedMs() - arrivedMs },
          command,
          (it) => publish(parts, it, spend, group),
          attributesOfPublish,
        )
      : publish(parts, command, spend, group));
    if (isFault(published)) return published;
    countAccepted(metrics, published);
    if (!("messageId" in published))
      return {
        status: 200,
        read: async (permit) => ({ pieces: groupResultTexts(parts.reads(permit), published) }),
      };
    if (tracer.isOn && !begins) {
      const { traceparent: parent } = req.headers;
      traceSteps(tracer, [command], [published], {
        parent: typeof parent === "string" ? parent : undefined,
        begunMsAgo: clock.passedMs() - arrivedMs,
      });
    }
    if (variant) return { status: 200, text: variant.answerText(published) };
    // Clients of workflows are answered 200 for a run that is active.
    const status = published.deduplicated && !run ? 202 : 200;
    return { status, text: publishResultText(published) };
  };
}

/** Parses a publish. A long body, which may be a step's, is parsed in turns with other requests. */
export const parsed = (
  given: PublishInput,
): PublishCommand | Fault | Promise<PublishCommand | Fault> =>
  given.body.length > bytesPerTurn ? runToEnd(readPublish(given)) : parsePublish(given);

type Accepted = Pick<Published, "deduplicated">;

export function countAccepted(
  metrics: Metrics,
  published: PublishedGroup | Accepted | readonly Accepted[],
): void {
  if ("group" in published) {
    const { duplicates, group } = published;
    if (duplicates > 0) metrics.count(accepted, "duplicate", duplicates);
    metrics.count(accepted, "new", group.endpointCount - duplicates);
  } else {
    for (const { deduplicated } of "deduplicated" in published ? [published] : published)
      metrics.count(accepted, deduplicated ? "duplicate" : "new");
  }
}

const accepted = "posthaste_messages_accepted_total";
