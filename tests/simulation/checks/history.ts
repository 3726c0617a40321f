/** The checks of docs/guarantees#the-checkers-rules over the whole history, at rest. */
import {
  backoffMs,
  callbackId,
  type DlqId,
  dlqIdOf,
  failureCallbackId,
  isDerived,
  limits,
  type MessageId,
  messageOf,
  requestedWaitMs,
} from "@posthaste/domain";
import { retryDelays } from "@posthaste/retry-delays-mathjs";
import { type Backend } from "../backend.ts";
import { type Shape } from "../composition.ts";
import { checkBulkActions } from "./bulk.ts";
import { checkDeduplication } from "./deduplication.ts";
import { checkLetters } from "./letters.ts";
import { checkPromptness } from "./promptness.ts";
import { checkQueues } from "./queues.ts";
import { checkSchedules } from "./schedules.ts";
import { checkOverlap, checkPauses, checkPins, checkRates } from "./lanes.ts";
import {
  type Exchange,
  type History,
  opOf,
  type Publication,
  type Settling,
} from "../world/history.ts";

type Checking = {
  readonly history: History;
  readonly backend: Backend;
  readonly byId: ReadonlyMap<MessageId, MessageHistory>;
};

type MessageHistory = {
  readonly id: MessageId;
  /** In the order of their sending, including requests that never reached their destination. */
  readonly exchanges: readonly Exchange[];
  /** Settlements that took effect, in order. */
  readonly settled: readonly Settling[];
};

export async function checkHistory(
  history: History,
  backend: Backend,
  shape: Shape,
): Promise<void> {
  const checking = { history, backend, byId: byMessage(history) };
  for (const message of checking.byId.values()) {
    checkReceipts(checking, message);
    checkAttempts(checking, message);
    checkRepeats(checking, message);
    checkTimes(checking, message);
    await checkFollowUps(checking, message);
  }
  for (const publication of history.publications) checkAcknowledged(checking, publication);
  checkDeduplication(history);
  checkOverlap(history);
  checkRates(history);
  checkPauses(history);
  checkBulkActions(history);
  checkQueues(history);
  checkSchedules(history, backend);
  checkLetters(history);
  checkPins(history);
  // In one process, and by the embedded store, the log is written with the records themselves.
  checkPromptness(history, backend.model !== undefined && shape === "distributed");
}

function byMessage(history: History): ReadonlyMap<MessageId, MessageHistory> {
  const exchanges = Map.groupBy(history.exchanges, ({ id }) => id);
  const settled = Map.groupBy(history.applied.values(), ({ settlement }) => settlement.message.id);
  const ids = new Set([...history.lives.keys(), ...exchanges.keys(), ...settled.keys()]);
  return new Map(
    [...ids].map((id) => [
      id,
      { id, exchanges: exchanges.get(id) ?? [], settled: settled.get(id) ?? [] },
    ]),
  );
}

const ended = ({ settled }: MessageHistory) =>
  settled.find(
    ({ settlement }) => settlement.next.kind === "delivered" || settlement.next.kind === "failed",
  );
const wasAnswered2xx = ({ status }: Exchange): boolean =>
  status !== undefined && status >= 200 && status < 300;

/** C1, C15, C12: every accepted message has come to exist and to its end. */
function checkAcknowledged({ history, byId }: Checking, publication: Publication): void {
  for (const { id, url } of publication.acks.flatMap(({ answers }) => answers)) {
    const message = byId.get(id);
    const check = publication.command.destination.kind === "group" ? "C15" : "C1";
    if (!message || !history.lives.has(id)) {
      history.violate(
        check,
        `op ${publication.op}: ${id} (${url}) was acknowledged and never existed`,
      );
      continue;
    }
    const canceled = history.cancels.has(id);
    const end = ended(message)?.settlement.next.kind;
    if (canceled) continue;
    if (end === undefined)
      history.violate(check, `op ${publication.op}: ${id} was acknowledged and has no end`);
    if (end === "delivered" && !message.exchanges.some(wasAnswered2xx))
      history.violate(check, `${id} is delivered and no destination has said so`);
  }
}

/** C2: a message arrives as it was published, where it was published to. */
function checkReceipts({ history }: Checking, { id, exchanges }: MessageHistory): void {
  const record = history.lives.get(id)?.[0]?.record;
  for (const exchange of exchanges) {
    if (!record) {
      history.violate("C2", `${id} was delivered and never inserted`);
      return;
    }
    const op = opOf(record.message);
    const command =
      history.publications.find((each) => each.op === op)?.command ?? history.templates.get(op);
    if (!command) {
      history.violate("C2", `${id} belongs to no publication`);
      return;
    }
    const isCallback = record.message.origin.callbackOf !== undefined;
    const expected = isCallback ? record.message : messageOf(command, record.message.url, id, 0);
    const { destination } = command;
    const sameUrl = isCallback || destination.kind === "group" || destination.url === exchange.url;
    const same =
      sameUrl &&
      exchange.url === record.message.url &&
      exchange.method === expected.method &&
      JSON.stringify(exchange.headers) === JSON.stringify(expected.headers) &&
      Buffer.compare(exchange.body, expected.body) === 0;
    if (!same)
      history.violate(
        "C2",
        `${id} arrived other than it was published: ${exchange.method} ${exchange.url}`,
      );
  }
}

/** C3: every attempt has its settlement, or a fault that explains why not; settled attempts are at most 1 + retries. */
function checkAttempts({ history }: Checking, message: MessageHistory): void {
  const { id, exchanges, settled } = message;
  const retriesMax = history.lives.get(id)?.[0]?.record.message.policy.retriesMax ?? 0;
  const counted = settled.filter(({ settlement }) => countsAsAttempt(settlement));
  if (counted.length > 1 + retriesMax)
    history.violate("C3", `${id} had ${counted.length} attempts of ${1 + retriesMax}`);
  const failed = settled.find(({ settlement }) => settlement.next.kind === "failed");
  const letter = failed?.settlement.append.find((item) => item.kind === "deadLetter");
  if (letter?.reason === "retries_exhausted" && counted.length !== 1 + retriesMax) {
    history.violate("C3", `${id} failed after ${counted.length} attempts of ${1 + retriesMax}`);
  }
  checkRetried(history, message);
  const applied = new Set(settled.map(({ settlement }) => settlement.epoch));
  for (const exchange of exchanges) {
    if (applied.has(exchange.epoch)) continue;
    const until = (exchange.endedAt ?? exchange.sentAt) + limits.leaseMs;
    const canceledAt = history.cancels.get(id)?.at;
    if (canceledAt !== undefined && canceledAt <= until) continue;
    if (!history.explains([exchange.node], exchange.sentAt - limits.leaseMs, until)) {
      history.violate(
        "C3",
        `${id} epoch ${exchange.epoch}: nothing explains why this attempt has no settlement`,
      );
    }
  }
}

/** C3: only a destination's failure raises `retried`, which counts the scheduled retries. */
function checkRetried(history: History, { id, settled }: MessageHistory): void {
  if ((history.lives.get(id)?.length ?? 0) > 1) return;
  let retries = 0;
  for (const { settlement } of settled) {
    if (settlement.append.some((item) => item.kind === "fact" && item.ended === "retry"))
      retries += 1;
    if (settlement.retried !== retries)
      history.violate(
        "C3",
        `${id} epoch ${settlement.epoch}: retried is ${settlement.retried} after ${retries} failures`,
      );
  }
}

/** Reports whether the settlement is of an outcome of the destination, for which its outbox has a fact. */
const countsAsAttempt = ({ append, next }: Settling["settlement"]): boolean =>
  append.some(({ kind }) => kind === "fact") && next.kind !== "canceled";

/** C4: a request after a 2xx has a fault that explains it. */
function checkRepeats({ history }: Checking, { id, exchanges }: MessageHistory): void {
  for (const [i, first] of exchanges.entries()) {
    if (!wasAnswered2xx(first)) continue;
    const second = exchanges[i + 1];
    if (!second) return;
    history.count("repeats");
    const from = first.sentAt - limits.leaseMs;
    const to = (first.endedAt ?? first.answeredAt ?? first.sentAt) + limits.leaseMs;
    const inserters = (history.lives.get(id) ?? []).map(({ node }) => node);
    const twiceMade = inserters.length > 1;
    if (isDerived(id) && twiceMade)
      history.violate("C13", `${id} was made ${inserters.length} times`);
    if (!history.explains(twiceMade ? [first.node, ...inserters] : [first.node], from, to)) {
      history.violate(
        "C4",
        `${id}: epoch ${second.epoch} was sent by ${second.node} after the 2xx to epoch ${first.epoch} of ${first.node}; no fault explains it`,
      );
    }
    return;
  }
}

/** C5, C6, C8. */
function checkTimes({ history }: Checking, { id, exchanges, settled }: MessageHistory): void {
  const life = history.lives.get(id)?.[0];
  if (!life) return;
  // A time is right if the clock was right of the process that recorded it and of the one that accepted the message.
  const clockIsRight = (node: string, from: number, to: number): boolean =>
    !history.explains([node, life.node], Math.min(from, life.at), to, ["clock"]);
  for (const { sentAt, endedAt = Number.POSITIVE_INFINITY, epoch, node } of exchanges) {
    const { createdAt, notBefore } = life.record.message;
    // A message without a delay is due by the clock that has made it (ADR 120).
    if (notBefore > createdAt && sentAt < notBefore && clockIsRight(node, life.at, sentAt)) {
      history.violate(
        "C6",
        `${id} epoch ${epoch} was sent ${notBefore - sentAt} ms before its time`,
      );
    }
    const cancel = history.cancels.get(id);
    if (
      cancel?.ackedAt !== undefined &&
      sentAt > cancel.ackedAt + limits.leaseMs &&
      !history.explains([node], cancel.at, sentAt)
    ) {
      history.violate(
        "C5",
        `${id} epoch ${epoch} was sent ${sentAt - cancel.ackedAt} ms after its cancel was acknowledged`,
      );
    }
    if (
      cancel?.ackedAt !== undefined &&
      endedAt > cancel.ackedAt + limits.leaseMs &&
      !history.explains([node], sentAt, cancel.ackedAt + limits.leaseMs)
    ) {
      history.violate("C5", `${id} epoch ${epoch} went on after its cancel was acknowledged`);
    }
    for (const before of settled) {
      const { settlement, at } = before;
      if (settlement.epoch >= epoch || sentAt <= at) continue;
      if (settlement.next.kind === "delivered" || settlement.next.kind === "failed") {
        const again = (history.lives.get(id)?.length ?? 0) > 1;
        if (!again)
          history.violate(
            "C5",
            `${id} epoch ${epoch} was sent after it was ${settlement.next.kind} at epoch ${settlement.epoch}`,
          );
      }
    }
  }
  for (const [i, { settlement, at, node }] of settled.entries()) {
    const fact = settlement.append.find((item) => item.kind === "fact");
    if (fact?.ended !== "retry") continue;
    const gapMs = waitOf(
      settlement.message.policy.retryDelay,
      settlement.retried - 1,
      fact.response?.headers,
      fact.endedAt,
    );
    const next = exchanges.find(({ epoch }) => epoch > settlement.epoch);
    // The attempt ended before its settlement took effect; the gap counts from its end as its process saw it.
    if (!next || !clockIsRight(node, at - limits.leaseMs, next.sentAt)) continue;
    if (next.sentAt < fact.endedAt + gapMs - 5) {
      history.violate(
        "C8",
        `${id}: retry ${i + 1} was sent ${next.sentAt - fact.endedAt} ms after the failure, not ${gapMs}`,
      );
    }
  }
}

const delays = retryDelays();
function waitOf(
  expression: string | undefined,
  retried: number,
  headers: Exchange["headers"] | undefined,
  now: number,
): number {
  const asked = headers && requestedWaitMs(headers, now);
  return (
    asked ??
    (expression === undefined ? backoffMs(retried, 0) : delays.delayMs(expression, retried))
  );
}

/** C13, C1, C17: every settlement has the follow-ups that it causes, once each. */
async function checkFollowUps(
  { history, backend, byId }: Checking,
  { id, settled }: MessageHistory,
): Promise<void> {
  const lives = history.lives.get(id) ?? [];
  if (isDerived(id) && lives.length > 1)
    history.violate("C13", `${id} was made ${lives.length} times`);
  const record = lives[0]?.record;
  const source = record?.message.origin.callbackOf;
  if (source !== undefined) {
    const causes = byId.get(source)?.settled.flatMap(({ settlement }) => settlement.append) ?? [];
    const ids = causes.map((item) =>
      item.kind === "failureCallback"
        ? failureCallbackId(source)
        : callbackId(source, item.attempt),
    );
    if (!ids.includes(id)) history.violate("C13", `${id} is no callback that ${source} has caused`);
  }
  if (!record) return;
  const { tenant } = record.message;
  const isKept = async (letter: DlqId): Promise<boolean> =>
    history.lettersTaken.has(letter) || !!(await backend.deadLetters.get(tenant, letter));
  const states = new Set(await backend.statesOf(tenant, id));
  for (const { settlement } of settled) {
    for (const item of settlement.append) {
      switch (item.kind) {
        case "callback":
          if (!history.lives.has(callbackId(id, item.attempt)))
            history.violate("C13", `${id} has no callback of attempt ${item.attempt}`);
          break;
        case "failureCallback":
          if (!history.lives.has(failureCallbackId(id)))
            history.violate("C13", `${id} has no failure callback`);
          break;
        case "deadLetter":
          if (!(await isKept(dlqIdOf(id, item.failedAt))))
            history.violate("C1", `${id} failed and has no dead letter`);
          break;
        case "run":
          // The effect on the run is in its head.
          break;
        case "fact": {
          // A fact of a run is recorded in the run's own log.
          if (settlement.message.run) break;
          const said =
            item.ended === "delivered" ? "DELIVERED" : item.ended === "failed" ? "FAILED" : "RETRY";
          if (!states.has(said))
            history.violate("C17", `the log does not know that ${id} was ${said}`);
          break;
        }
      }
    }
  }
  if (history.cancels.has(id) && !states.has("CANCELED"))
    history.violate("C17", `the log does not know that ${id} was CANCELED`);
}
