/** The spans of the deliverer: claims and attempts of messages whose trace is sampled, and failed attempts and retries of all others. */
import {
  elapsedMs,
  type InState,
  isSuccess,
  limits,
  type Message,
  type Outcome,
  unreachable,
} from "@posthaste/domain";
import {
  type Attributes,
  causeOf,
  type Span,
  type SpanOptions,
  traceFields,
  type Tracer,
} from "@posthaste/ports";

type Claimed = InState<"claimed">;

/** Records the claim of a batch as a span of each traced message in it. */
export function traceClaim(
  tracer: Tracer,
  { message, epoch }: Claimed,
  { tookMs, now, batch }: { readonly tookMs: number; readonly now: number; readonly batch: number },
): void {
  if (!tracer.isOn || message.trace === undefined) return;
  tracer
    .start("claim", {
      kind: "internal",
      cause: causeOf(message.trace, beganAt(message), now),
      begunMsAgo: tookMs,
      attributes: {
        "posthaste.message.id": message.id,
        ...attributesOfRun(message),
        "posthaste.epoch": epoch,
        "posthaste.batch.size": batch,
      },
    })
    ?.end();
}

/** Records the taking of a named message: a span from its insert until its hint arrives here. */
export const traceTaking = (tracer: Tracer, record: Claimed, now: number): void =>
  traceClaim(tracer, record, {
    tookMs: elapsedMs(record.message.createdAt, limits.namedLeaseMs, now),
    now,
    batch: 1,
  });

/** Returns when the message's trace began: with its run, if it has one. */
const beganAt = ({ createdAt, run }: Message): number => run?.createdAt ?? createdAt;

/** `tookMs`: how long the failed attempt took; absent if none has failed. */
type Begun = { readonly now: number; readonly tookMs?: number };

/**
 * Starts the span of an attempt. An untraced message has none while all is well: the first attempt gets one when it
 * has failed, and begins a trace with it that its retries belong to (ADR 199).
 */
export function startAttemptSpan(
  tracer: Tracer,
  record: Claimed,
  { now, tookMs }: Begun,
): Span | undefined {
  if (!tracer.isOn) return undefined;
  const { message, retried, epoch } = record;
  const hasFailed = tookMs !== undefined;
  if (message.trace === undefined && retried === 0 && !hasFailed) return undefined;
  const place = placeOf(tracer, record, now, hasFailed);
  if (!place) return undefined;
  return tracer.start("attempt", {
    ...{ kind: "client", ...place },
    ...(hasFailed && { begunMsAgo: tookMs }),
    attributes: {
      "posthaste.tenant": message.tenant,
      "posthaste.message.id": message.id,
      ...attributesOfRun(message),
      "posthaste.retried": retried,
      "posthaste.epoch": epoch,
      "http.request.method": message.method,
      ...serverOf(message.url),
    },
  });
}

function placeOf(
  tracer: Tracer,
  { message, epoch }: Claimed,
  now: number,
  hasFailed: boolean,
): Pick<SpanOptions, "cause" | "place"> | undefined {
  if (message.trace !== undefined) return { cause: causeOf(message.trace, beganAt(message), now) };
  const first = tracer.placeOfFirstAttempt(message.id);
  if (first === undefined) return undefined;
  const isFirst = epoch === 1 && hasFailed;
  return isFirst ? { place: first } : { cause: causeOf(first, message.notBefore, now) };
}

/** `part` names the delivery by role and step, such as `s2`, the result of the second step; `step` is the endpoint's name for the step. */
const attributesOfRun = ({ run }: Message): Attributes =>
  run
    ? {
        "posthaste.run.id": run.id,
        "posthaste.run.part": run.part,
        ...(run.stepName !== undefined && { "posthaste.run.step": run.stepName }),
      }
    : {};

/** Returns the fields by which a line of the log names the trace of an attempt, or of the message if its attempt has no span. */
export const traceOf = ({
  record,
  span,
}: {
  readonly record: Pick<Claimed, "message">;
  readonly span: Span | undefined;
}): ReturnType<typeof traceFields> => traceFields(span?.traceParent ?? record.message.trace);

export function endAttemptSpan(span: Span | undefined, outcome: Outcome): void {
  if (!span) return;
  const word = outcomeWord(outcome);
  span.end({
    attributes: {
      "posthaste.outcome": word,
      ...(outcome.kind === "answered" && { "http.response.status_code": outcome.status }),
    },
    ...(word !== "delivered" && { error: errorOf(outcome) }),
  });
}

/** Returns host and port of a URL. User, path and query may be secret. */
function serverOf(url: string): Attributes {
  const { hostname, port, protocol } = new URL(url);
  const defaultPort = protocol === "https:" ? 443 : 80;
  return { "server.address": hostname, "server.port": port === "" ? defaultPort : Number(port) };
}

/** Returns the kind of error. The outcome's text may quote the destination's answer, so it is left out. */
function errorOf(outcome: Outcome): string {
  switch (outcome.kind) {
    case "answered":
      return String(outcome.status);
    case "unreachable":
    case "infrastructure":
      return outcome.code;
    case "aborted":
      return "aborted";
    default:
      return unreachable(outcome);
  }
}

export function outcomeWord(outcome: Outcome) {
  if (outcome.kind !== "answered") return outcome.kind;
  return isSuccess(outcome) ? "delivered" : "refused";
}
