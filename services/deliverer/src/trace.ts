/** The spans of the deliverer: a claim and an attempt, of messages whose trace is sampled. */
import {
  agoMs,
  type InState,
  limits,
  type Message,
  type Outcome,
  unreachable,
} from "@posthaste/domain";
import { type Attributes, causeOf, type Span, type Tracer } from "@posthaste/ports";
import { outcomeWord } from "./report.ts";

type Claimed = InState<"claimed">;

/** A claim is of many; each that is traced shows it as its own. */
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

/** Its insert has claimed it for this deliverer: the claim that a trace shows lasts from then until it is heard here. */
export const traceTaking = (tracer: Tracer, record: Claimed, now: number): void =>
  traceClaim(tracer, record, {
    tookMs: agoMs(record.message.createdAt, limits.namedLeaseMs, now),
    now,
    batch: 1,
  });

/** The trace of a run's message began with its run. */
const beganAt = ({ createdAt, run }: Message): number => run?.createdAt ?? createdAt;

export function startAttempt(
  tracer: Tracer,
  { message, retried, epoch }: Claimed,
  now: number,
): Span | undefined {
  if (!tracer.isOn || message.trace === undefined) return undefined;
  return tracer.start("attempt", {
    kind: "client",
    cause: causeOf(message.trace, beganAt(message), now),
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

/** `part`: which of its deliveries, by role and step: `s2`, the result of the second. `step`: as its endpoint calls that. */
const attributesOfRun = ({ run }: Message): Attributes =>
  run
    ? {
        "posthaste.run.id": run.id,
        "posthaste.run.part": run.part,
        ...(run.stepName !== undefined && { "posthaste.run.step": run.stepName }),
      }
    : {};

export function endAttempt(span: Span | undefined, outcome: Outcome): void {
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

/** Where it goes, without what of a URL may be a secret: user, path and query. */
function serverOf(url: string): Attributes {
  const { hostname, port, protocol } = new URL(url);
  const defaultPort = protocol === "https:" ? 443 : 80;
  return { "server.address": hostname, "server.port": port === "" ? defaultPort : Number(port) };
}

/** Never the text: it may quote what the destination said. */
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
