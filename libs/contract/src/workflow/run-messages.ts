/**
 * The log of the messages of a run, as older clients ask for it (docs/workflows): when each delivery was created,
 * which of its attempts failed and how it ended, beside the events of the run. The log is made from the run: the
 * effects of a delivery prove that it was delivered, and show when.
 */
import {
  type DeliveryKey,
  type LogState,
  logStates,
  messageStories,
  type MessageStory,
  partKeyOf,
  rankOf,
  runMessageId,
} from "@posthaste/domain";
import * as z from "zod";
import { type ReadView } from "../representations/body.ts";
import { headersShape, type JsonOf } from "../representations/schemas.ts";
import {
  ended,
  type Happened,
  type Placed,
  placedEvents,
  runEventSchema,
  started,
  toldError,
} from "./run-events.ts";
import { errorsOf } from "./run-failure.ts";
import { runStates, type RunStepJson } from "./run-step.ts";
import { runJson } from "./run-view.ts";
import { type ShownPart } from "./shown-part.ts";
import { callView, headersSent, invokedView, type RunReading, waitView } from "./step-view.ts";

export const runMessageStates = [...runStates, "WAITER_ADDED", "INVOKED", ...logStates] as const;

export const runMessageEventSchema = runEventSchema
  .extend({
    state: z.enum(runMessageStates),
    headers: headersShape.optional().describe("The headers of the message, on ERROR"),
  })
  .meta({ id: "RunMessageEvent" });

export type RunMessageEventJson = JsonOf<typeof runMessageEventSchema>;

type Event = Happened<RunMessageEventJson["state"]>;

type Whole = {
  readonly reading: RunReading;
  readonly view: ReadView;
  /** The steps as the log of runs shows them, by the ids of their messages. */
  readonly steps: ReadonlyMap<string | undefined, RunStepJson>;
};

/** Returns the events, latest first. A resumed run has only the events since it was resumed: the run that it continues has the rest. */
export function runMessages(
  reading: RunReading,
  view: ReadView,
): readonly Placed<RunMessageEventJson>[] {
  const { attempts, parts, run } = reading;
  const shown = runJson(reading, view, true);
  const steps = shown.steps.flatMap((group) => group.steps);
  const whole = { reading, view, steps: new Map(steps.map((step) => [step.messageId, step])) };
  const tried = new Set(attempts.map(({ part }) => part));
  return placedEvents<Event["state"]>(run, shown, [
    started(shown),
    ...messageStories(run, parts, tried).flatMap((story) => messageEvents(whole, story)),
    ...[...parts.values()].flatMap((part) => waitingEvents(reading, part)),
    ...ended(reading, shown),
  ]);
}

function messageEvents(whole: Whole, story: MessageStory): readonly Event[] {
  const { key, name } = story;
  const { parts, run } = whole.reading;
  const part = parts.get(name);
  if (!part) return [];
  const stepInfo = stepOf(whole, key, part);
  const headers = stepInfo.headers && { headers: stepInfo.headers };
  const at = Math.max(part.at, run.createdAt);
  const nextDeliveryTime = Math.max(at, part.sent?.notBefore ?? 0);
  const happened: readonly Told[] = [
    { time: at, state: "CREATED", more: { nextDeliveryTime } },
    ...failedAttempts(whole, story),
    ...endOf(whole, story),
  ];
  return happened.map(({ more, state, time }) => ({
    ...{ time, state, order: [1, ...placeOf(key), rankOf[state]] },
    more: { stepInfo, ...(state === "ERROR" && headers), ...more },
  }));
}

type Told = Omit<Event, "order" | "state"> & { readonly state: LogState };

const failedAttempts = ({ reading }: Whole, { name }: MessageStory): readonly Told[] =>
  reading.attempts
    .filter(({ part }) => part === name)
    .flatMap(({ error, startedAt }): readonly Told[] => [
      ...(startedAt === undefined ? [] : [{ time: startedAt, state: "ACTIVE" } as const]),
      { time: error.time, state: "ERROR", more: toldError(error) },
      { time: error.time, state: "RETRY" },
    ]);

function endOf({ reading, view }: Whole, { end, name }: MessageStory): readonly Told[] {
  if (!end) return [];
  const { at: time, kind } = end;
  switch (kind) {
    case "delivered":
      return [{ time, state: "DELIVERED" }];
    case "failed": {
      const error = errorsOf(reading, [name], view).errors?.at(-1);
      return [
        { time, state: "ERROR", ...(error && { more: toldError(error) }) },
        { time, state: "FAILED" },
      ];
    }
    case "canceled": {
      const asked = { time, state: "CANCEL_REQUESTED" } as const;
      const isAsked = reading.run.state.kind === "canceled";
      return [...(isAsked ? [asked] : []), { time, state: "CANCELED" }];
    }
  }
}

/** Sorts messages of one millisecond. */
const placeOf = (key: DeliveryKey): readonly number[] => [
  "step" in key ? key.step : 0,
  roles.indexOf(key.role),
];
const roles: readonly DeliveryKey["role"][] = [
  ...(["start", "adopted", "plan", "call", "answer", "result"] as const),
];

function stepOf({ reading, steps, view }: Whole, key: DeliveryKey, part: ShownPart): RunStepJson {
  const { run } = reading;
  const common = { messageId: runMessageId(run.root, part.name), createdAt: part.at };
  switch (key.role) {
    case "start":
    case "adopted": {
      const { state: _, ...init } = steps.get(run.root) ?? {};
      return key.role === "start" ? init : { ...init, ...common };
    }
    case "result": {
      const {
        errors: _,
        nextDeliveryTime: _next,
        state: _state,
        ...step
      } = steps.get(common.messageId) ?? {};
      return { ...step, ...common };
    }
    case "plan":
      return {
        ...part.step,
        ...{ ...common, stepId: key.step, targetStep: key.step, callType: "step" },
        headers: headersSent(run, part, view),
      };
    case "call":
    case "answer":
      return {
        ...callView(reading, key.step, view),
        ...{ ...common, stepId: key.step, stepType: "Call" },
        callType: key.role === "call" ? "toCallback" : "fromCallback",
      };
  }
}

function waitingEvents(reading: RunReading, part: ShownPart): readonly Event[] {
  const key = partKeyOf(part.name);
  if (key?.role !== "wait" && key?.role !== "invocation") return [];
  if (part.at < reading.run.createdAt) return [];
  const { role, step } = key;
  const { waitTimeout: _, ...wait } = waitView(reading, step);
  const stepInfo: RunStepJson = {
    ...part.step,
    ...(role === "wait" ? wait : invokedView(reading, step)),
    ...{ stepId: step, createdAt: part.at },
  };
  return [
    {
      time: part.at,
      state: role === "wait" ? "WAITER_ADDED" : "INVOKED",
      ...{ order: [1, step, roles.length], more: { stepInfo } },
    },
  ];
}
