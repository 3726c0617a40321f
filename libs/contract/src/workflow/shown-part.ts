/** A part of a run as its readers see it, made as the part is read: only the shown text is kept, and less for a very large run. */
import {
  type EntryDelivery,
  type Headers,
  partKeyOf,
  partOf,
  type PartName,
  type Run,
  type RunAttempt,
  type RunPart,
} from "@posthaste/domain";
import { type InTurns } from "../bodies/pause.ts";
import { type ReadableBody, type ReadView } from "../representations/body.ts";
import { attemptError, type AttemptErrorJson } from "./run-attempts.ts";
import {
  bodyOfRun,
  headersOf,
  invokedFields,
  invokedSince,
  pairsOf,
  publishedStep,
  type RunStepJson,
  stepFields,
  stepWithin,
  writtenJson,
} from "./run-step.ts";

export type ShownPart = {
  readonly name: PartName;
  readonly at: number;
  readonly sent?: EntryDelivery;
  /** The part as a whole: a payload, a result, or the body sent to a third party. */
  readonly body?: ReadableBody;
  readonly step?: RunStepJson;
  /** The deadline of a step that waits, or has waited. */
  readonly deadline?: number;
  /** The fields that name the run which the step has invoked. */
  readonly invoked?: RunStepJson;
  readonly answer?: {
    readonly status?: number;
    readonly headers: Headers;
    readonly body: ReadableBody;
  };
};

export type ShownAttempt = {
  readonly part: PartName;
  readonly startedAt?: number;
  readonly error: AttemptErrorJson;
};

export const shownAttempt = (
  run: Run,
  { fact, part }: RunAttempt,
  view: ReadView,
): ShownAttempt => ({
  part,
  ...(fact.startedAt !== undefined && { startedAt: fact.startedAt }),
  error: attemptError(run, fact, view),
});

/** Notes and other parts that are not shown have only their name. */
function* shownPart(run: Run, part: RunPart, view: ReadView): InTurns<ShownPart> {
  const { at, name, sent } = part;
  const known = { name, at, ...(sent && { sent }) };
  switch (partKeyOf(name)?.role) {
    case "start":
    case "call":
    case "returned":
    case "failure":
      return { ...known, body: bodyOfRun(run, part.body, view) };
    case "plan":
    case "result":
      return { ...known, step: yield* stepFields(run, yield* publishedStep(part.body), view) };
    case "wait": {
      const step = yield* stepFields(run, yield* stepWithin(part.body), view);
      const { deadline } = yield* writtenJson(part, ["deadline"]);
      return { ...known, step, ...(typeof deadline === "number" && { deadline }) };
    }
    case "invocation": {
      const step = yield* stepFields(run, yield* stepWithin(part.body), view);
      return { ...known, step, invoked: yield* invokedFields(run, part, view) };
    }
    case "invoked":
      return { ...known, invoked: yield* invokedSince(part) };
    case "answer":
    case "told":
    case "reply":
    case "failureHeaders": {
      const { body, header, headers, status } = yield* writtenJson(part, answerNames);
      const said = typeof body === "string" ? Buffer.from(body, "base64") : undefined;
      return {
        ...known,
        answer: {
          ...(typeof status === "number" && { status }),
          headers: headers === undefined ? headersOf(header) : pairsOf(headers),
          body: bodyOfRun(run, said, view),
        },
      };
    }
    case "adopted":
    case "note":
    case undefined:
      return known;
  }
}

/** Characters of steps and answers shown of a run; parts after that have no bodies. */
const shownCharsMax = 4 * 1024 * 1024;

/** Collects the parts one by one. The payload, the result and the last answer are shown however large the steps are. */
export function shownParts(run: Run, view: ReadView) {
  const shown = new Map<PartName, ShownPart>();
  let chars = 0;
  return {
    shown: shown as ReadonlyMap<PartName, ShownPart>,
    add: function* (this: void, part: RunPart): InTurns<void> {
      const isOfSteps = !ofRun.has(part.name);
      const isTooMuch = isOfSteps && chars > shownCharsMax;
      const made = yield* shownPart(run, part, isTooMuch ? { ...view, bodyBytesMax: 0 } : view);
      if (isOfSteps) chars += charsIn(made);
      shown.set(part.name, made);
    },
  };
}

const ofRun: ReadonlySet<PartName> = new Set(
  (["start", "returned", "failure"] as const).map((role) => partOf({ role })),
);

function charsIn(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce((sum: number, each) => sum + charsIn(each), 0);
}

const answerNames = ["body", "header", "headers", "status"];
