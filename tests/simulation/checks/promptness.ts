/**
 * C23 and C24: a message that may be called at once is in the log within two seconds and is called within five, and
 * one with a delay within five of its end, unless a fault of a process on its way, or further calls to its
 * destination, explain more. A bus that is known to be away explains nothing, and processes that stop in good order
 * explain only why a message with a delay is late.
 */
import { isNamed, type Message, type MessageRecord } from "@posthaste/domain";
import { type Exchange, type FaultKind, type History, type Life } from "../world/history.ts";

const loggedMsMax = 2_000;
const calledMsMax = 5_000;
/** This many calls of a deliverer, and calls to one destination, may hold up the next. */
const callsMax = 8;
const callsToOneMax = 4;
/** How long a deliverer that has died is still named; messages that waited for a process come late. */
const believedMsMax = 4_000;
/** The time until each process has noticed that the bus is away, and until lost hints are noticed. */
const noticedMsMax = 2_500;

export function checkPromptness(history: History, hasLog: boolean): void {
  const calls = Map.groupBy(history.exchanges, ({ id }) => id);
  for (const [id, [life, again]] of history.lives) {
    if (!life || again || history.cancels.has(id) || !goesAlone(life.record.message)) continue;
    if (hasLog && !isDelayed(life.record.message)) checkLogged(history, life);
    checkCalled(history, life, calls.get(id)?.[0]);
  }
}

const isDelayed = ({ createdAt, notBefore }: Message): boolean => notBefore > createdAt;

const goesAlone = ({ flow, origin, queue, run }: Message): boolean =>
  flow === undefined &&
  queue === undefined &&
  !run &&
  !origin.group &&
  origin.callbackOf === undefined &&
  origin.scheduleId === undefined;

function checkLogged(history: History, life: Life): void {
  const { at, record } = life;
  const { id } = record.message;
  const loggedAt = history.logged.get(id) ?? Number.POSITIVE_INFINITY;
  const until = at + loggedMsMax;
  const isConcerned = (node: string): boolean =>
    node.startsWith("log") || isOnItsWay(life, node, undefined);
  if (isTroubled(history, { from: at, to: until, isConcerned })) return;
  history.count("promptness.logged");
  if (loggedAt > until)
    history.violate("C23", `${id} was in the log ${loggedAt - at} ms after it was accepted`);
}

function checkCalled(history: History, life: Life, first: Exchange | undefined): void {
  const { at, record } = life;
  const { id, notBefore, url } = record.message;
  const dueAt = isDelayed(record.message) ? Math.max(at, notBefore) : at;
  const sentAt = first?.sentAt ?? Number.POSITIVE_INFINITY;
  const until = Math.min(sentAt, dueAt + calledMsMax);
  if (isHeldUp(history, url, { from: dueAt, to: until })) return;
  const isConcerned = (node: string): boolean => isOnItsWay(life, node, first?.node);
  // A message that comes due while the one process that would ring it stops waits for the next.
  const but: readonly FaultKind[] = isDelayed(record.message) ? ["outage"] : ["restart", "outage"];
  if (isTroubled(history, { from: at, to: until, isConcerned, but })) return;
  if (isUnnoticed(history, { from: at, to: until })) return;
  history.count(isDelayed(record.message) ? "promptness.delayed" : "promptness.called");
  if (sentAt > dueAt + calledMsMax)
    history.violate("C24", `${id} was first called ${sentAt - dueAt} ms after it was due`);
}

/**
 * Reports whether a process is on the message's way: it accepts the message, is named for it, rings it, or calls it.
 * If no deliverer is named, any may receive the hint.
 */
function isOnItsWay({ node, record }: Life, other: string, caller: string | undefined): boolean {
  if (other === node || other === caller) return true;
  if (isDelayed(record.message) && other.startsWith("scheduler")) return true;
  const owner = ownerNode(record);
  return owner === undefined ? other.startsWith("deliverer") : other === owner;
}

/** Returns the node of the owner: a deliverer's owner name is that of its life. */
const ownerNode = (record: MessageRecord): string | undefined =>
  isNamed(record) ? record.state.owner.replace(/#\d+$/, "") : undefined;

type Window = { readonly from: number; readonly to: number };

function isHeldUp({ exchanges }: History, url: string, { from, to }: Window): boolean {
  const { host } = new URL(url);
  const others = exchanges.filter(
    ({ endedAt = Number.POSITIVE_INFINITY, sentAt }) => sentAt <= to && endedAt >= from,
  );
  const toOne = others.filter((other) => new URL(other.url).host === host);
  return mostAtOnce(others, from) >= callsMax || mostAtOnce(toOne, from) >= callsToOneMax;
}

/** Returns the most calls at once, from then on. */
function mostAtOnce(exchanges: readonly Exchange[], from: number): number {
  const atOnce = (at: number): number =>
    exchanges.filter(
      ({ endedAt = Number.POSITIVE_INFINITY, sentAt }) => sentAt <= at && endedAt > at,
    ).length;
  return Math.max(atOnce(from), ...exchanges.map(({ sentAt }) => atOnce(sentAt)));
}

type Trouble = Window & {
  readonly isConcerned: (node: string) => boolean;
  readonly but?: readonly FaultKind[];
};

const isTroubled = ({ faults }: History, { from, to, isConcerned, but = [] }: Trouble): boolean =>
  faults.some(
    (fault) =>
      !but.includes(fault.kind) &&
      fault.from <= to &&
      fault.to + believedMsMax >= from &&
      (fault.node === undefined || isConcerned(fault.node)),
  );

/** Reports whether the bus is away and some process may not have noticed. */
const isUnnoticed = ({ faults }: History, { from, to }: Window): boolean =>
  faults.some(
    ({ kind, ...fault }) =>
      kind === "outage" && fault.from <= to && fault.from + noticedMsMax >= from,
  );
