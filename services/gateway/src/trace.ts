/**
 * The spans of the gateway: of a publish, and of any other request. A trace named by a caller's `traceparent` is continued once
 * the caller's token is verified.
 */
import { type IncomingMessage } from "node:http";
import {
  type Fault,
  isFault,
  type PartName,
  partOf,
  pendingPart,
  type PublishCommand,
  type RunId,
  stepNameOf,
  type TenantId,
} from "@posthaste/domain";
import { noteTraceOfFailure } from "@posthaste/http";
import { type Published, type PublishedGroup } from "@posthaste/engine";
import { type Attributes, type Span, type Tracer } from "@posthaste/ports";

type Arrival = {
  readonly req: IncomingMessage;
  readonly begunMsAgo: number;
};

/** Calls `publish` in a span, with the trace in the command if it is sampled. */
export async function traced<R>(
  tracer: Tracer,
  { req, begunMsAgo }: Arrival,
  command: PublishCommand,
  publish: (command: PublishCommand) => Promise<R | Fault>,
  attributesOf: (result: R) => Attributes,
): Promise<R | Fault> {
  const parent = req.headers["traceparent"];
  const span = tracer.start("publish", {
    kind: "server",
    ...(typeof parent === "string" && { cause: { parent } }),
    begunMsAgo,
    attributes: { "posthaste.tenant": command.tenant, "posthaste.body.bytes": command.body.length },
  });
  if (!span) return publish(command);
  try {
    const given = { ...command, trace: span.traceParent };
    const result = await tracer.within(span.traceParent, () => publish(given));
    span.end(isFault(result) ? { error: result.fault } : { attributes: attributesOf(result) });
    return result;
  } catch (error) {
    span.end({ error: "failed" });
    noteTraceOfFailure(req, span.traceParent);
    throw error;
  }
}

/**
 * Adds spans for the messages that an endpoint publishes for a run whose trace is sampled: part of the caller's
 * trace, if it has one, with a link to the run's. The start of a run is in the run's own trace.
 */
export function traceSteps(
  tracer: Tracer,
  commands: readonly PublishCommand[],
  published: readonly Published[],
  { parent, begunMsAgo }: { readonly parent: string | undefined; readonly begunMsAgo: number },
): void {
  published.forEach((one, i) => {
    const command = commands[i];
    const link = one.run?.trace;
    if (!command || command.run?.kind === "start" || link === undefined) return;
    tracer
      .start("publish", {
        kind: "server",
        cause: parent === undefined ? { link } : { parent, link },
        begunMsAgo,
        attributes: {
          "posthaste.tenant": command.tenant,
          "posthaste.body.bytes": command.body.length,
          ...attributesOfPublish(one),
          ...attributesOfStep(command),
        },
      })
      ?.end();
  });
}

/** Returns the attributes of the step that published the message; an invocation is a step of its invoker. */
function attributesOfStep({ policy, run }: PublishCommand): Attributes {
  switch (run?.kind) {
    case "entry":
      return ofStep(run, partOf(run.key), run.stepName);
    case "call":
      return ofStep(run, partOf({ role: "call", step: run.step }), stepNameOf(policy.callback));
    case "invoke": {
      const { run: step } = run.answer;
      if (step?.kind !== "entry") return {};
      const part = pendingPart({ kind: "invoke", step: step.key.step });
      return ofStep(step, part, step.stepName);
    }
    case "start":
    case undefined:
      return {};
  }
}

const ofStep = (
  { id }: { readonly id: RunId },
  part: PartName,
  name: string | undefined,
): Attributes => ({
  "posthaste.run.id": id,
  "posthaste.run.part": part,
  ...(name !== undefined && { "posthaste.run.step": name }),
});

/** The attributes of a request other than a publish, known once its caller is. The route is the template of the path, without ids. */
export type Asked = {
  readonly tenant: TenantId;
  readonly method: string;
  readonly route: string;
  readonly rawHeaders: readonly string[];
};

/** Returns undefined while tracing is off. */
export function requestSpan(tracer: Tracer, asked: Asked): Span | undefined {
  if (!tracer.isOn) return undefined;
  const parent = valueOf(asked.rawHeaders, "traceparent");
  return tracer.start("request", {
    kind: "server",
    ...(parent !== undefined && { cause: { parent } }),
    attributes: {
      "posthaste.tenant": asked.tenant,
      "http.request.method": asked.method.toUpperCase(),
      "http.route": asked.route,
    },
  });
}

/** Runs `work` in the span of a request, and ends the span with it. */
export async function inSpan<R extends { readonly status: number }>(
  tracer: Tracer,
  { req, span }: { readonly req: IncomingMessage; readonly span: Span | undefined },
  work: () => Promise<R | Fault>,
): Promise<R | Fault> {
  if (!span) return work();
  try {
    const answered = await tracer.within(span.traceParent, work);
    span.end(
      isFault(answered)
        ? { error: answered.fault }
        : { attributes: { "http.response.status_code": answered.status } },
    );
    return answered;
  } catch (error) {
    span.end({ error: "failed" });
    noteTraceOfFailure(req, span.traceParent);
    throw error;
  }
}

/** Adds the request's trace to one of its commands, if the request is traced. */
export function inTrace(tracer: Tracer, command: PublishCommand): PublishCommand {
  const trace = tracer.isOn ? tracer.current() : undefined;
  return trace === undefined ? command : { ...command, trace };
}

function valueOf(rawHeaders: readonly string[], wanted: string): string | undefined {
  const at = rawHeaders.findIndex((text, n) => n % 2 === 0 && text.toLowerCase() === wanted);
  return at < 0 ? undefined : rawHeaders[at + 1];
}

export function attributesOfPublish(published: Published | PublishedGroup): Attributes {
  if (!("messageId" in published)) return { "posthaste.endpoints": published.group.endpointCount };
  const { messageId, deduplicated, run } = published;
  return {
    "posthaste.message.id": messageId,
    "posthaste.deduplicated": deduplicated,
    ...(run && { "posthaste.run.id": run.id }),
  };
}
