/**
 * The log of the messages of a run, as older clients ask for it (docs/workflows): when each delivery was created, which of
 * its attempts failed and how it ended, beside the events of the run. The log is made from the run: what a delivery has
 * caused proves that it was delivered, and says when.
 */
import {
  type DeliveryKey,
  deliveryOf,
  isFailed,
  type LogState,
  logStates,
  openEntries,
  type PartName,
  partOf,
  rankOf,
  type Run,
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
import {
  callFields,
  headersSent,
  invokedBy,
  runJson,
  type RunReading,
  waitFields,
} from "./run-view.ts";
import { type ShownPart } from "./shown-part.ts";

export const runMessageStates = [...runStates, "WAITER_ADDED", "INVOKED", ...logStates] as const;

export const runMessageEventSchema = runEventSchema
  .extend({
    state: z.enum(runMessageStates),
    headers: headersShape.optional().describe("Of the message, on ERROR"),
  })
  .meta({ id: "RunMessageEvent" });

export type RunMessageEventJson = JsonOf<typeof runMessageEventSchema>;

type Event = Happened<RunMessageEventJson["state"]>;

type Whole = {
  readonly reading: RunReading;
  readonly view: ReadView;
  /** The steps as the log of runs shows them, by the ids of their messages. */
  readonly steps: ReadonlyMap<string | undefined, RunStepJson>;
  readonly begunAt: ReadonlyMap<number, number>;
  /** The last step of each step's group. */
  readonly groupEnds: ReadonlyMap<number, number>;
  /** Parts that are not delivered yet, or were not when the run ended. */
  readonly open: ReadonlySet<PartName>;
};

/**
 * Returns the events, latest first. A resumed run has only the events since it was resumed: the run that it goes on from has
 * the rest.
 */
export function runMessages(
  reading: RunReading,
  view: ReadView,
): readonly Placed<RunMessageEventJson>[] {
  const { parts, run } = reading;
  const shown = runJson(reading, view, true);
  const whole: Whole = {
    ...{ reading, view, begunAt: beginnings(reading), groupEnds: groupEndsOf(run) },
    steps: new Map(shown.steps.flatMap(({ steps }) => steps.map((step) => [step.messageId, step]))),
    open: openNames(run),
  };
  return placedEvents<Event["state"]>(run, shown, [
    started(shown),
    ...[...parts.values()].flatMap((part) => [
      ...messageEvents(whole, part),
      ...waitingEvents(whole, part),
    ]),
    ...ended(reading, shown),
  ]);
}

function beginnings({ parts }: RunReading): ReadonlyMap<number, number> {
  const begun = new Map<number, number>();
  for (const { at, name } of parts.values()) {
    const [, digits] = /^[pscwv]([1-9][0-9]*)$/.exec(name) ?? [];
    if (digits === undefined) continue;
    const step = Number(digits);
    begun.set(step, Math.min(at, begun.get(step) ?? at));
  }
  return begun;
}

const groupEndsOf = ({ history }: Run): ReadonlyMap<number, number> =>
  new Map(
    history.spans.flatMap(({ from, role, to }) =>
      role === "plan"
        ? Array.from({ length: to - from + 1 }, (_, i): [number, number] => [from + i, to])
        : [],
    ),
  );

function openNames(run: Run): ReadonlySet<PartName> {
  const calls = run.state.pending.flatMap((pending) =>
    pending.kind === "call"
      ? partOf({ role: pending.isAnswered ? "answer" : "call", step: pending.step })
      : [],
  );
  const entries = openEntries(run).map((key) =>
    partOf(key.role === "start" && run.adoption === "done" ? { role: "adopted" } : key),
  );
  return new Set([...entries, ...calls]);
}

/** Returns the events of a message of the run: an entry, a call, or the answer of a call. */
function messageEvents(whole: Whole, part: ShownPart): readonly Event[] {
  const key = deliveryOf(part.name);
  if (!key || !isOfRun(whole, key, part)) return [];
  const stepInfo = stepOf(whole, key, part);
  const headers = stepInfo.headers && { headers: stepInfo.headers };
  const at = Math.max(part.at, whole.reading.run.createdAt);
  const nextDeliveryTime = Math.max(at, part.sent?.notBefore ?? 0);
  const happened: readonly Told[] = [
    { time: at, state: "CREATED", more: { nextDeliveryTime } },
    ...failedAttempts(whole, part),
    ...endOf(whole, key, part),
  ];
  return happened.map(({ more, state, time }) => ({
    ...{ time, state, order: [1, ...placeOf(key), rankOf(state)] },
    more: { stepInfo, ...(state === "ERROR" && headers), ...more },
  }));
}

type Told = Omit<Event, "order" | "state"> & { readonly state: LogState };

/**
 * Reports whether a part belongs to the log of this run and not of the failed one. Members of a group are resumed by their
 * plans; what else was there when a run failed is issued again, or shows that it was.
 */
function isOfRun(whole: Whole, key: DeliveryKey, { at, name }: ShownPart): boolean {
  const { attempts, run } = whole.reading;
  if (at >= run.createdAt || whole.open.has(name)) return true;
  if (isFailed(run) && run.state.failure.at === name) return true;
  if (attempts.some(({ part }) => part === name)) return true;
  const isOfGroup = key.role === "result" && whole.groupEnds.has(key.step);
  return !isOfGroup && (causedAt(whole, key) ?? 0) >= run.createdAt;
}

/** Returns when a delivery had caused something, and so had been delivered. */
function causedAt(whole: Whole, key: DeliveryKey): number | undefined {
  const { begunAt, groupEnds, reading } = whole;
  const { parts, run } = reading;
  const atOf = (name: PartName): number | undefined => parts.get(name)?.at;
  const goesOn = (step: number): number | undefined =>
    begunAt.get(step) ?? (run.state.kind === "succeeded" ? run.state.endedAt : undefined);
  switch (key.role) {
    case "start":
      return atOf("adopted") ?? goesOn(1);
    case "adopted":
      return goesOn(1);
    case "plan":
      return earliest([..."cwvs"].map((letter) => atOf(`${letter}${key.step}`)));
    case "call":
      return atOf(partOf({ role: "answer", step: key.step }));
    case "answer":
      return atOf(partOf({ role: "result", step: key.step }));
    case "result":
      return goesOn((groupEnds.get(key.step) ?? key.step) + 1);
  }
}

function earliest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

const failedAttempts = ({ reading }: Whole, { name }: ShownPart): readonly Told[] =>
  reading.attempts
    .filter(({ part }) => part === name)
    .flatMap(({ error, startedAt }): readonly Told[] => [
      ...(startedAt === undefined ? [] : [{ time: startedAt, state: "ACTIVE" } as const]),
      { time: error.time, state: "ERROR", more: toldError(error) },
      { time: error.time, state: "RETRY" },
    ]);

/**
 * Returns how a delivery ended. A group's result that is not the last causes nothing: its end is known once the group is
 * passed.
 */
function endOf(whole: Whole, key: DeliveryKey, { name }: ShownPart): readonly Told[] {
  const delivered = causedAt(whole, key);
  if (delivered !== undefined) return [{ time: delivered, state: "DELIVERED" }];
  const { reading, view } = whole;
  const { state } = reading.run;
  if (state.kind === "active") return [];
  const time = state.endedAt;
  if (state.kind === "failed" && state.failure.at === name) {
    const error = errorsOf(reading, [name], view).errors?.at(-1);
    return [
      { time, state: "ERROR", ...(error && { more: toldError(error) }) },
      { time, state: "FAILED" },
    ];
  }
  if (!whole.open.has(name)) return [];
  const asked = { time, state: "CANCEL_REQUESTED" } as const;
  return [...(state.kind === "canceled" ? [asked] : []), { time, state: "CANCELED" }];
}

/** Sorts messages of one millisecond. */
const placeOf = (key: DeliveryKey): readonly number[] => [
  "step" in key ? key.step : 0,
  roles.indexOf(key.role),
];
const roles: readonly DeliveryKey["role"][] = [
  ...(["start", "adopted", "plan", "call", "answer", "result"] as const),
];

/** Returns the step that a message tells of. */
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
        headers: headersSent(reading, part, view),
      };
    case "call":
    case "answer":
      return {
        ...callFields(reading, key.step, view),
        ...{ ...common, stepId: key.step, stepType: "Call" },
        callType: key.role === "call" ? "toCallback" : "fromCallback",
      };
  }
}

/** Returns the event of a step that has begun to wait, or has invoked a run. */
function waitingEvents({ reading }: Whole, part: ShownPart): readonly Event[] {
  const [, letter, digits] = /^([wv])([1-9][0-9]*)$/.exec(part.name) ?? [];
  if (digits === undefined || part.at < reading.run.createdAt) return [];
  const step = Number(digits);
  const { waitTimeout: _, ...wait } = waitFields(reading, step);
  const stepInfo: RunStepJson = {
    ...part.step,
    ...(letter === "w" ? wait : invokedBy(reading, step)),
    ...{ stepId: step, createdAt: part.at },
  };
  return [
    {
      time: part.at,
      state: letter === "w" ? "WAITER_ADDED" : "INVOKED",
      ...{ order: [1, step, roles.length], more: { stepInfo } },
    },
  ];
}
