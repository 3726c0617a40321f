/** A run as rows on one scale of time. What a step was begun by is what came before it. */
import { type Run, type RunStep } from "@posthaste/client/api";

export type StepRow = {
  readonly key: string;
  readonly name: string;
  readonly kind: string;
  readonly state: NonNullable<RunStep["state"]>;
  /** Of a parallel group. */
  readonly isMember: boolean;
  readonly from: number;
  readonly to: number;
  readonly failures: number;
  readonly step: RunStep;
};

export type Waterfall = {
  readonly rows: readonly StepRow[];
  readonly from: number;
  readonly to: number;
};

/** `now`: where a run that goes on has come to. */
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
  return {
    key: isNext ? "next" : `${targetStep ?? stepId}`,
    name: step.stepName ?? (isNext ? "what comes next" : `step ${stepId}`),
    kind: kinds[step.stepType ?? ""] ?? step.stepType ?? "",
    state,
    isMember,
    from: Math.min(began, doneAt),
    to: Math.max(began, isDone ? doneAt : end),
    failures: errors.length,
    step,
  };
}

/** A sleep that stands alone is published when it begins. */
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
