/** Places a run's steps on one scale of time. A step begins when the one before it ends. */
import { type AttemptError, type Run, type RunStep } from "@posthaste/client/api";

/** A stretch of a step's time. `mark`: a failed attempt, of which only the end is known. */
type Segment = {
  readonly kind: "done" | "failed" | "active" | "calm" | "retry" | "sleep" | "wait" | "mark";
  readonly from: number;
  readonly to: number;
};

export type StepRow = {
  readonly key: string;
  readonly name: string;
  readonly kind: string;
  readonly state: NonNullable<RunStep["state"]>;
  readonly isMember: boolean;
  readonly from: number;
  readonly to: number;
  readonly segments: readonly Segment[];
  readonly failures: number;
  /** The error of a step that failed or is being retried. */
  readonly lastError: AttemptError | undefined;
  readonly step: RunStep;
};

export type Waterfall = {
  readonly rows: readonly StepRow[];
  readonly from: number;
  readonly to: number;
};

/** `now`: the end of the scale for an active run. */
export function waterfallOf(run: Run, now: number): Waterfall {
  const from = run.workflowRunCreatedAt;
  const end = run.workflowRunCompletedAt ?? Math.max(now, from);
  const rows: StepRow[] = [];
  let began = from;
  for (const { type, steps } of run.steps) {
    const members = steps.map((step) =>
      rowOf(step, { began, end, isMember: type === "parallel", isNext: type === "next" }),
    );
    rows.push(...members);
    began = members.reduce((latest, { to }) => Math.max(latest, to), began);
  }
  return { rows, from, to: rows.reduce((latest, row) => Math.max(latest, row.to), end) };
}

export const failedRow = ({ rows }: Waterfall): StepRow | undefined =>
  rows.findLast(({ state }) => state === "STEP_FAILED");

export const waitingRows = ({ rows }: Waterfall): readonly StepRow[] =>
  rows.filter(({ state, step }) => state === "STEP_PROGRESS" && step.waitEventId !== undefined);

type Place = {
  readonly began: number;
  readonly end: number;
  readonly isMember: boolean;
  readonly isNext: boolean;
};

function rowOf(step: RunStep, { began, end, isMember, isNext }: Place): StepRow {
  const { stepId = 0, targetStep, state = "STEP_PROGRESS", errors = [], createdAt } = step;
  const isDone = state === "STEP_SUCCESS";
  const doneAt = createdAt === undefined ? began : createdAt + sleptMs(step, createdAt);
  const from = Math.min(began, doneAt);
  const to = Math.max(began, isDone ? doneAt : end);
  const isOpen = state === "STEP_FAILED" || state === "STEP_RETRY" || state === "STEP_PROGRESS";
  return {
    key: isNext ? "next" : `${targetStep ?? stepId}`,
    name: step.stepName ?? (isNext ? "next step" : `step ${stepId}`),
    kind: kinds[step.stepType ?? ""] ?? step.stepType ?? "",
    state,
    isMember,
    from,
    to,
    segments: segmentsOf(step, state, { from, to }),
    failures: errors.length,
    lastError: isOpen ? errors.at(-1) : undefined,
    step,
  };
}

const ends = {
  STEP_SUCCESS: "done",
  STEP_FAILED: "failed",
  STEP_RETRY: "retry",
  STEP_PROGRESS: "active",
  STEP_CANCELED: "calm",
} as const satisfies Readonly<Record<StepRow["state"], Segment["kind"]>>;

const pauses: Readonly<Record<string, "sleep" | "wait">> = {
  SleepFor: "sleep",
  SleepUntil: "sleep",
  Wait: "wait",
  Invoke: "wait",
};

type Span = { readonly from: number; readonly to: number };

/** Between two failed attempts the step waited for its retry. The part after the last shows its state. */
function segmentsOf(
  { stepType = "", errors = [] }: RunStep,
  state: StepRow["state"],
  { from, to }: Span,
): readonly Segment[] {
  const pause = pauses[stepType];
  const inside = errors
    .map(({ time }) => Math.min(Math.max(time, from), to))
    .toSorted((a, b) => a - b);
  const [first] = inside;
  if (first === undefined) return [{ kind: pause ?? ends[state], from, to }];
  const last = inside.at(-1) ?? first;
  const isOver = state === "STEP_FAILED";
  return [
    { kind: "failed", from, to: first },
    { kind: "retry", from: first, to: last },
    ...inside.map((at): Segment => ({ kind: "mark", from: at, to: at })),
    ...(isOver ? [] : [{ kind: ends[state], from: last, to } as const]),
  ];
}

/** A single sleep is published when it begins. */
function sleptMs({ sleepFor, sleepUntil, concurrent = 1 }: RunStep, createdAt: number): number {
  if (concurrent > 1) return 0;
  if (sleepFor !== undefined) return sleepFor * 1_000;
  return sleepUntil === undefined ? 0 : Math.max(0, sleepUntil * 1_000 - createdAt);
}

const kinds: Readonly<Record<string, string>> = {
  Initial: "start",
  Run: "step",
  SleepFor: "sleep",
  SleepUntil: "sleep",
  Call: "call",
  Wait: "wait",
  Notify: "notify",
  Invoke: "invoke",
};

const roomShare = 0.93;
const stepsOfTicks = [1, 2, 5] as const;

/** Returns the marks of a scale: at most six, at round times, the last with room for its text. */
export function ticksOf(spanMs: number): readonly number[] {
  const most = 6;
  const rounds = [
    ...[1, 10, 100].flatMap((ms) => stepsOfTicks.map((each) => each * ms)),
    ...[1, 2, 5, 10, 15, 30].map((s) => s * 1_000),
    ...[1, 2, 5, 10, 15, 30].map((min) => min * 60_000),
    ...[1, 2, 3, 6, 12, 24, 48, 96, 168, 336, 720].map((h) => h * 3_600_000),
  ];
  const step = rounds.find((each) => spanMs / each < most) ?? spanMs;
  const last = Math.floor((spanMs * roomShare) / step);
  return Array.from({ length: last + 1 }, (_, nth) => nth * step);
}
