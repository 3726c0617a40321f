/**
 * `POST /v2/publish/{destination}`, and `/v2/enqueue/{queue}/{destination}`, whose target names the queue. Headers go through the
 * one table once, the body stays bytes, and the answer follows the durable record (I1).
 */
import { publishResultText } from "@posthaste/contract";
import { isFault } from "@posthaste/domain";
import {
  isPartOfRun,
  publish,
  publishForRuns,
  type RunPorts,
  unknownDestination,
} from "@posthaste/engine";
import { type Queues, type Telemetry } from "@posthaste/ports";
import { countAccepted } from "../accepted.ts";
import { groupOf, type Judge } from "../judge.ts";
import { groupResultTexts } from "../published-texts.ts";
import { parsed } from "../parsed.ts";
import { type Rates } from "../rates.ts";
import { takeRoom } from "../room.ts";
import { type BacklogQuota } from "../backlog.ts";
import { type ReadsIn } from "../reads.ts";
import { type RawWork } from "../raw-door.ts";
import { attributesOfPublish, traced, traceSteps } from "../trace.ts";

export type PublishParts = {
  readonly accept: RunPorts;
  readonly backlog: BacklogQuota;
  readonly queues: Queues;
  readonly judge: Judge;
  readonly rates: Rates;
  readonly reads: ReadsIn;
  readonly telemetry: Telemetry;
  readonly isClosed: () => boolean;
};

export function publishWork(parts: PublishParts): RawWork {
  const { accept, judge, telemetry } = parts;
  const { tracer, metrics } = telemetry;
  return async ({ req, arrivedMs, tenant, callerIp, target, body }) => {
    const { destination } = target;
    // No await without a group, since every message takes this way.
    const group =
      destination.kind === "group" ? await groupOf(accept.groups, tenant, destination) : undefined;
    const judges = judge(tenant, callerIp);
    const parsing = parsed({
      ...judges,
      rawHeaders: req.rawHeaders,
      queryConfig: target.queryConfig,
      destination,
      ...(group?.headers && { defaultsOf: () => group.headers }),
      queue: target.names[0],
      body,
    });
    const command = parsing instanceof Promise ? await parsing : parsing;
    if (isFault(command)) return command;
    if (destination.kind === "group" && !group) return unknownDestination(destination.name);
    if (!isPartOfRun(command)) {
      const { queue } = command;
      const messages = group?.endpointCount ?? 1;
      const taking = takeRoom(parts, tenant, {
        messages,
        queues: queue === undefined ? [] : [queue],
      });
      const noRoom = taking && (await taking);
      if (noRoom) return noRoom.refused;
    }
    if (command.run) {
      // A run has a trace of its own from its start on. A publish of its endpoint for it begins no trace.
      const begins = tracer.isOn && command.run.kind === "start";
      const made = await (begins
        ? traced(
            tracer,
            { req, begunMsAgo: accept.clock.passedMs() - arrivedMs },
            command,
            (it) => publishForRuns(accept, [it]),
            ([it]) => (it ? attributesOfPublish(it) : {}),
          )
        : publishForRuns(accept, [command]));
      if (isFault(made)) return made;
      if (tracer.isOn && !begins) {
        const { traceparent: parent } = req.headers;
        traceSteps(tracer, [command], made, {
          parent: typeof parent === "string" ? parent : undefined,
          begunMsAgo: accept.clock.passedMs() - arrivedMs,
        });
      }
      countAccepted(metrics, made);
      return { status: 200, text: made.map(publishResultText).join("") };
    }
    const published = await (tracer.isOn
      ? traced(
          tracer,
          { req, begunMsAgo: accept.clock.passedMs() - arrivedMs },
          command,
          (it) => publish(accept, it, group),
          attributesOfPublish,
        )
      : publish(accept, command, group));
    if (isFault(published)) return published;
    countAccepted(metrics, published);
    return "messageId" in published
      ? { status: published.deduplicated ? 202 : 200, text: publishResultText(published) }
      : {
          status: 200,
          read: async (seat) => ({ pieces: groupResultTexts(parts.reads(seat), published) }),
        };
  };
}
