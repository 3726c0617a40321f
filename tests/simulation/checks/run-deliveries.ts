/** The requests to endpoints of runs: R4, R7, R13, R15, R16, and C6. */
import { limits, runMessageId } from "@posthaste/domain";
import { readHistory, type Program, stepsOf } from "../runs/program.ts";
import { type Asking } from "../runs/seen.ts";
import { type History } from "../world/history.ts";
import { endOf, hasCaused, isResumed, orderOf, stepOf, type Story } from "./run-story.ts";

/** The time between the last look at the head and the request, if nothing goes wrong. */
const briefedMsMax = 50;

export function checkDeliveries(history: History, story: Story): void {
  const order = orderOf(story.run);
  for (const [rank, part] of order.entries()) checkPrefix(history, story, part, rank);
  checkPrefix(history, story, "adopted", 0);
  checkGroups(history, story, order);
  for (const part of [...order, ...story.parts.keys()].filter(isDelivered)) {
    checkAfterEnd(history, story, part);
    checkAskedAgain(history, story, part);
    checkTimes(history, story, part);
  }
  checkExecutions(history, story);
}

const isDelivered = (part: string): boolean => /^(start|adopted|[psca][0-9]+)$/.test(part);

/** R4: every attempt of an entry carries the same history, which ends with that entry. */
function checkPrefix(
  history: History,
  { root, run, sent }: Story,
  part: string,
  rank: number,
): void {
  const ids = orderOf(run).map((name) => (name === "start" ? root : `${root}_r${name}`));
  for (const { body, id, sentAt } of sent(part)) {
    const carried = readHistory(body).entries.map((entry) => entry.id);
    const expected = ids.slice(1, rank + 1);
    if (JSON.stringify(carried) !== JSON.stringify(expected))
      history.violate(
        "R4",
        `${id} carried ${carried.length} entries at ${sentAt}, not the ${expected.length} up to it`,
      );
  }
}

/** R7: the endpoint learns once that a group is done. */
function checkGroups(history: History, story: Story, order: readonly string[]): void {
  const { program, run, sent } = story;
  for (const { from, steps } of groupsOf(program)) {
    const results = order.filter(
      (name) => name.startsWith("s") && stepOf(name) >= from && stepOf(name) < from + steps.length,
    );
    const whole = results.filter((name) =>
      sent(name).some(
        ({ body }) =>
          readHistory(body).entries.filter(({ step }) => step >= from && step < from + steps.length)
            .length ===
          2 * steps.length,
      ),
    );
    if (whole.length > 1)
      history.violate("R7", `${whole.join(" ")} of ${run.key} each show the whole group`);
    if (whole.length === 1) history.count("runs.groups");
    // A resumed run may have passed the group before.
    const isPassed =
      !isResumed(story) &&
      order.some((name) => name !== "start" && stepOf(name) >= from + steps.length);
    if (isPassed && whole.length === 0)
      history.violate("R7", `${run.key} passed a group that it has never seen`);
  }
}

const groupsOf = ({ parts }: Program) => parts.filter(({ isGroup }) => isGroup);

/** R13: a run that has ended is delivered no more. */
function checkAfterEnd(history: History, story: Story, part: string): void {
  const end = endOf(story)?.at ?? Infinity;
  for (const { id, node, sentAt } of story.sent(part))
    if (sentAt > end + briefedMsMax && !history.explains([node], end, sentAt))
      history.violate("R13", `${id} was sent ${sentAt - end} ms after the end of its run`);
}

/** R15: a delivery that has had its effect is not made again. */
function checkAskedAgain(history: History, { changes, program, sent }: Story, part: string): void {
  const causedAt = changes.find(
    ({ after, before }) =>
      before && orderOrPending(before, part) && hasCaused(program, after, part),
  )?.at;
  if (causedAt === undefined) return;
  for (const { epoch, id, node, sentAt } of sent(part).slice(1))
    if (sentAt > causedAt + briefedMsMax && !history.explains([node], causedAt, sentAt))
      history.violate(
        "R15",
        `${id} epoch ${epoch} was sent ${sentAt - causedAt} ms after its answer`,
      );
}

/** Reports whether the run had the entry or call of the delivery. */
function orderOrPending(run: Story["run"], part: string): boolean {
  if (part === "adopted") return run.adoption === "done";
  if (part[0] !== "c" && part[0] !== "a") return orderOf(run).includes(part);
  const pending = run.state.kind === "active" ? run.state.pending : [];
  return pending.some((each) => each.kind === "call" && each.step === stepOf(part));
}

/** R15: the code of a step runs again only with a fault that explains it, of the endpoint or of a process. */
function checkExecutions(history: History, { changes, program, root }: Story): void {
  const [start] = changes;
  const done = start ? orderOf(start.after) : [];
  const own = history.runs.executions.filter((each) => each.root === root);
  for (const number of stepsOf(program).keys()) {
    const times = own
      .filter(({ step }) => step === number)
      .toSorted((a, b) => a.exchange.sentAt - b.exchange.sentAt);
    if (done.includes(`s${number}`) && times.length > 0)
      history.violate("R16", `step ${number} of ${root} was done before it was resumed, and ran`);
    for (const [i, { exchange }] of times.entries()) {
      const next = times[i + 1];
      if (!next || isExplained(history, exchange)) continue;
      history.violate(
        "R15",
        `step ${number} of ${root} ran for ${next.exchange.id} after it had for ${exchange.id}`,
      );
    }
    if (times.length > 1) history.count("runs.repeats", times.length - 1);
  }
}

function isExplained(
  history: History,
  { answeredAt, endedAt, node, sentAt, status = 0 }: Asking,
): boolean {
  if (status < 200 || status > 299) return true;
  const until = (endedAt ?? answeredAt ?? sentAt) + limits.leaseMs;
  return history.explains([node], sentAt - limits.leaseMs, until);
}

/** C6 of runs: nothing is sent before its time, which a sleep sets. */
function checkTimes(history: History, { root, sent }: Story, part: string): void {
  const id = runMessageId(root, part);
  const message = history.lives.get(id)?.[0]?.record.message;
  const clocksWereRight = !history.faults.some(({ kind }) => kind === "clock");
  if (!message || !clocksWereRight) return;
  for (const { sentAt } of sent(part))
    if (sentAt < message.notBefore)
      history.violate("C6", `${id} was sent ${message.notBefore - sentAt} ms before its time`);
}
