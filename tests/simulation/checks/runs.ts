/** The checks of docs/guarantees#the-checkers-rules about runs, at rest: heads, parts and results. */
import { hasInvoker, isActive, owesAnswer, type Pending, type Run } from "@posthaste/domain";
import { type Backend } from "../backend.ts";
import { hasPages, phaseOf, policyOf, timeoutMs } from "../runs/commands.ts";
import { eventPrefix, outcomeOf, returned, type Step, stepsOf, timedOut } from "../runs/program.ts";
import { type RunChange } from "../runs/seen.ts";
import { type Exchange, type History } from "../world/history.ts";
import { checkDeliveries } from "./run-deliveries.ts";
import { checkEvents } from "./run-events.ts";
import { checkViews } from "./run-views.ts";
import {
  endOf,
  hasCaused,
  isResumed,
  orderOf,
  saidOf,
  storiesOf,
  type Story,
  text,
} from "./run-story.ts";

export async function checkRuns(history: History, backend: Backend): Promise<void> {
  const stories = storiesOf(history);
  checkIds(history, stories);
  for (const story of stories) checkWrites(history, story);
  // Wrong heads cannot be read further.
  if (history.violations.length > 0) return;
  for (const story of stories) {
    checkEnd(history, story);
    checkStart(history, story, stories);
    checkResults(history, story, stories);
    checkLogged(history, story, stories);
    checkDeliveries(history, story);
    await checkViews(history, story, backend);
    await checkLetter(history, story, backend);
    history.count(`runs.${story.run.state.kind}`);
  }
  checkEvents(history, stories);
  checkAcks(history, stories);
}

/** R2: of one id at most one run is active, and id and time name one run. R10: a child starts once. */
function checkIds(history: History, stories: readonly Story[]): void {
  for (const [id, uses] of Map.groupBy(stories, ({ run: { id, tenant } }) => `${tenant}/${id}`)) {
    const ordered = uses.toSorted((a, b) => a.run.generation - b.run.generation);
    for (const [i, use] of ordered.entries()) {
      const before = ordered[i - 1];
      if (!before) continue;
      history.count("runs.reused");
      const end = endOf(before)?.at ?? Infinity;
      if (end > (use.changes[0]?.at ?? 0))
        history.violate("R2", `${use.run.key} began while ${before.run.key} was active`);
      if (use.run.createdAt <= before.run.createdAt)
        history.violate("R2", `${id} and its time name two runs`);
    }
  }
  for (const [root, uses] of Map.groupBy(stories, (story) => story.root))
    if (uses.length > 1) history.violate("R10", `${root} is the root of ${uses.length} runs`);
  const invoked = stories.filter(({ run }) => run.invoker);
  for (const [step, children] of Map.groupBy(
    invoked,
    ({ run: { invoker } }) => `${invoker?.root ?? ""} ${invoker?.step ?? 0}`,
  ))
    if (children.length > 1) history.violate("R10", `${step} has ${children.length} children`);
}

/**
 * R20: a run that clients start only in two phases is not begun again by its endpoint. If another run has had the id
 * meanwhile, the request of the endpoint does not say which of them it means.
 */
function checkStart(history: History, { program, run }: Story, stories: readonly Story[]): void {
  if (run.invoker || run.from || run.adoption || phaseOf(program) === undefined) return;
  const before = stories.find(
    ({ run: { generation, id, tenant } }) =>
      id === run.id && tenant === run.tenant && generation === run.generation - 1,
  );
  if (before?.run.adoption)
    history.violate("R20", `${run.key} was started by its endpoint, and by no client`);
}

/** R3: one write after another, and one of them ends the run. R4: history only grows. */
function checkWrites(history: History, { changes, run: { key } }: Story): void {
  const written = new Set<string>();
  for (const [i, { after, before, parts }] of changes.entries()) {
    const last = changes[i - 1]?.after;
    // The version of a resumed run continues that of the failed one.
    const expected = last ? last.version + 1 : after.from ? after.version : 1;
    if (before?.version !== last?.version || after.version !== expected)
      history.violate(
        "R3",
        `version ${after.version} of ${key} was decided on ${before?.version ?? 0}, not on ${expected - 1}`,
      );
    for (const { name } of parts) {
      if (written.has(name)) history.violate("R4", `${name} of ${key} was written twice`);
      written.add(name);
    }
    if (!last) continue;
    if (!isActive(last) && last.state.kind !== after.state.kind)
      history.violate("R3", `${key} was ${last.state.kind} and is ${after.state.kind}`);
    const order = orderOf(after);
    if (orderOf(last).some((name, at) => order[at] !== name))
      history.violate("R4", `the history of ${key} has changed at version ${after.version}`);
    if (!isActive(last) && order.length !== last.history.length)
      history.violate("R3", `the history of ${key} has grown after its end`);
    checkSize(history, after);
    checkAlarm(history, last, after);
    checkPending(history, last, after, written);
  }
}

/** R17: steps done one after the other are one span of the history, however many there are. */
function checkSize(history: History, { history: { spans }, key, version }: Run): void {
  const split = spans.find(({ from, role }, i) => {
    const before = spans[i - 1];
    return role === "result" && before?.role === "result" && before.to + 1 === from;
  });
  if (split)
    history.violate("R17", `the head of ${key} grows with each step, at version ${version}`);
}

/** R6: a duty of a run to another has an alarm from the write on that makes it. */
function checkAlarm(history: History, before: Run, after: Run): void {
  if (!isActive(after)) {
    if (isActive(before) && after.invoker && !owesAnswer(after))
      history.violate("R6", `${after.key} ends, and nothing will ring for its invoker`);
    return;
  }
  const known = isActive(before) ? before.state.pending : [];
  for (const pending of after.state.pending)
    if (pending.kind === "invoke" && pending.startBy === undefined)
      if (!known.some(({ step }) => step === pending.step))
        history.violate("R6", `${after.key} invokes, and nothing will ring for ${pending.childId}`);
}

/** R8, R10, R11: a wait of a step stays until the step's result, and ends with it. */
function checkPending(history: History, before: Run, after: Run, written: Set<string>): void {
  if (!isActive(before) || !isActive(after)) return;
  for (const pending of before.state.pending) {
    const now = after.state.pending.find(({ step }) => step === pending.step);
    if (!now && !written.has(`s${pending.step}`))
      history.violate(
        "R8",
        `${after.key} waits no longer for step ${pending.step}, without result`,
      );
    if (now && nameOf(now) !== nameOf(pending))
      history.violate("R10", `step ${pending.step} of ${after.key} waits for something else`);
  }
  for (const { step } of after.state.pending)
    if (orderOf(after).includes(`s${step}`))
      history.violate("R8", `${after.key} waits for step ${step}, which has its result`);
}

const nameOf = (pending: Pending): string =>
  pending.kind === "invoke" ? `invoke ${pending.childRoot}` : pending.kind;

/** R20: the run has returned what its program returns. R14: it had not passed the delivery that failed it. */
function checkEnd(history: History, story: Story): void {
  const { program, run, changes } = story;
  const end = endOf(story);
  if (!end) return;
  const { state } = end.after;
  if (state.kind === "succeeded") {
    const entries = [...stepsOf(program).keys()].map((step) => ({
      id: run.root,
      step,
      isPlan: false,
      said: saidOf(story, step) ?? "missing",
    }));
    const result = story.parts.get("e");
    const expected = JSON.stringify(outcomeOf(program, entries));
    if (!result || text(result) !== expected)
      history.violate(
        "R20",
        `${run.key} returned ${result ? text(result) : "nothing"}, not ${expected}`,
      );
  }
  if (state.kind === "canceled" && !isAskedToEnd(history, run, end))
    history.violate("R20", `${run.key} was cancelled by nobody`);
  if (state.kind !== "failed") return;
  const { at, reason } = state.failure;
  const before = changes[changes.indexOf(end) - 1]?.after;
  if (before && hasCaused(program, before, at))
    history.violate("R14", `${run.key} was failed by ${at}, which it had passed`);
  const attempts = story.sent(at);
  const last = attempts.at(-1);
  if (reason === "retries_exhausted" && attempts.length < 1 + policyOf(program).retriesMax)
    history.violate("R20", `${run.key} failed after ${attempts.length} attempts`);
  if (isSuccess(state.failure) && !hasPages(program))
    history.violate("R20", `${run.key} was failed by an answer that says success`);
  if (reason === "non_retryable" && last?.status !== 489)
    history.violate("R20", `${run.key} failed without an answer that says so`);
}

const isSuccess = ({ status = 0 }: { readonly status?: number | undefined }): boolean =>
  status >= 200 && status <= 299;

const isAskedToEnd = ({ runs }: History, { id, tenant }: Run, { at }: RunChange): boolean =>
  runs.cancels.some(
    (cancel) => cancel.id === id && cancel.tenant === tenant && cancel.askedAt <= at,
  );

/** R20: each result is one that its step can have come to. */
function checkResults(history: History, story: Story, stories: readonly Story[]): void {
  for (const [number, step] of stepsOf(story.program)) {
    // A result inherited from another run is checked there.
    const said = saidOf({ parts: story.own }, number);
    if (said === undefined) continue;
    const wrong = wrongBy(history, story, stories, number, step, said);
    if (wrong)
      history.violate(wrong, `step ${number} of ${story.run.key} (${step.kind}) is ${said}`);
  }
}

function wrongBy(
  history: History,
  story: Story,
  stories: readonly Story[],
  number: number,
  step: Step,
  said: string,
): string | undefined {
  const { parts, program, run } = story;
  const written = story.changes.find((each) =>
    each.parts.some(({ name }) => name === `s${number}`),
  );
  const pending = pendingOf(story, number);
  switch (step.kind) {
    case "code":
    case "notify":
      return said === returned(program, number) ? undefined : "R20";
    case "sleep":
      return said === "slept" ? undefined : "R20";
    case "call": {
      const calls = callsOf(story, stories, number);
      const statuses = calls.map(({ status = 0 }) => `answered ${status}`);
      if (calls.some((call) => isTooLate(history, call, written?.at ?? Infinity)))
        statuses.push("answered 0");
      const answer = parts.get(`a${number}`);
      if (!answer || !statuses.includes(said)) return "R11";
      const told = JSON.parse(text(answer)) as {
        status: number;
        retried: number;
        maxRetries: number;
      };
      const isFinal = (told.status >= 200 && told.status < 300) || told.retried >= told.maxRetries;
      return isFinal && said === `answered ${told.status}` ? undefined : "R11";
    }
    case "wait": {
      if (said !== timedOut) return said.startsWith(eventPrefix) ? undefined : "R8";
      const clocksWereRight = !history.faults.some(({ kind }) => kind === "clock");
      const deadline = pending?.kind === "wait" ? pending.deadline : Infinity;
      return clocksWereRight && (written?.at ?? 0) < deadline - 5 ? "R8" : undefined;
    }
    case "invoke": {
      if (pending?.kind !== "invoke") return "R10";
      const child = stories.find(({ root }) => root === pending.childRoot);
      const told = JSON.parse(said) as { isCanceled: boolean; isFailed: boolean; body?: string };
      const returnedBy = child?.parts.get("e");
      const isTrue =
        child !== undefined &&
        (isResumed(story) || child.run.invoker?.root === run.root) &&
        told.isCanceled === (child.run.state.kind === "canceled") &&
        told.isFailed === (child.run.state.kind === "failed") &&
        told.body === (returnedBy && text(returnedBy));
      return isTrue ? undefined : "R10";
    }
  }
}

/** R10: a run that ended before a run that it had invoked has that run's end in its log, and nothing of it is delivered to it. */
function checkLogged(history: History, { own, run, sent }: Story, stories: readonly Story[]): void {
  if (isActive(run)) return;
  for (const pending of run.state.pending) {
    if (pending.kind !== "invoke") continue;
    const { childRoot, step } = pending;
    const child = stories.find(({ root }) => root === childRoot);
    const isTold = child !== undefined && hasInvoker(child.run, { ...run, step });
    const isLogged = own.has(`s${step}`);
    if (isLogged) history.count("runs.logged");
    if (isTold !== isLogged || sent(`s${step}`).length > 0)
      history.violate("R10", `the end of ${childRoot} is not in the log of ${run.key}, or more`);
  }
}

/** Includes the calls of the run that it continues. */
function callsOf(story: Story, stories: readonly Story[], step: number): readonly Exchange[] {
  const of = story.changes[0]?.inherited?.of;
  const before = stories.find(({ run }) => run.key === of);
  return [...(before ? callsOf(before, stories, step) : []), ...story.sent(`c${step}`)];
}

/** Reports whether the call's time was up first, perhaps in a stopped process. */
const isTooLate = (history: History, call: Exchange, by: number): boolean =>
  (call.answeredAt ?? Infinity) >= call.sentAt + timeoutMs ||
  history.explains([call.node], call.sentAt, by);

const pendingOf = ({ changes }: Story, step: number): Pending | undefined =>
  changes
    .flatMap(({ after: { state } }) => (state.kind === "active" ? state.pending : []))
    .find((pending) => pending.step === step);

/** R12: a failed run is a dead letter, and reports its failure once. */
async function checkLetter(history: History, story: Story, backend: Backend): Promise<void> {
  const { run, parts, sent } = story;
  const end = endOf(story);
  if (!end) return;
  if (end.after.state.kind !== "failed") {
    if (parts.has("f") || sent("f").length > 0)
      history.violate("R12", `${run.key} has not failed and tells that it has`);
    return;
  }
  const { failure } = end.after.state;
  const { items } = await backend.runLog.failed(run.tenant, {}, { limit: 1_000 });
  if (!failure.inDlq || !items.some(({ key }) => key === run.key))
    history.violate("R12", `${run.key} has failed and is no dead letter`);
  const isTold = sent("f").some(isSuccess);
  const hasFailed = run.state.kind === "failed" && run.state.failure.function?.state === "failed";
  if (!isTold && !hasFailed)
    history.violate("R12", `nothing was told of the failure of ${run.key}`);
  if (sent("f").some(({ sentAt }) => sentAt < end.at))
    history.violate("R12", `the failure of ${run.key} was told before it had failed`);
}

/** R1: everything acknowledged is there. */
function checkAcks(history: History, stories: readonly Story[]): void {
  const byRoot = new Map(stories.map((story) => [story.root, story]));
  for (const { root, step, what } of history.runs.acks) {
    const story = byRoot.get(root);
    const holds =
      story &&
      (what === "start" ||
        (what === "finish" && endOf(story)) ||
        (what === "entry" && (story.parts.has(`p${step}`) || story.parts.has(`s${step}`))) ||
        story.parts.has(`s${step}`) ||
        pendingOf(story, step)?.kind === what);
    if (!holds)
      history.violate("R1", `${what} ${step} of ${root} was acknowledged and is not there`);
  }
  for (const { answeredAt, askedAt, id, tenant } of history.runs.cancels) {
    if (answeredAt === undefined) continue;
    const meant = stories
      .filter(({ run }) => run.id === id && run.tenant === tenant)
      .filter(({ changes }) => (changes[0]?.at ?? Infinity) <= askedAt);
    const open = meant.find((story) => (endOf(story)?.at ?? Infinity) > answeredAt);
    if (open) history.violate("R1", `${open.run.key} goes on after its cancel`);
  }
}
