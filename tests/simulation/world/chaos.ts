/** Troubles, and how often each happens: drawn once per seed, so that some seeds are calm and some have one kind of trouble or all. */
import { type Dice } from "@posthaste/testing";

/** Probabilities per call or event, and mean times between troubles that need no call. Undefined for never. */
export type Troubles = {
  readonly crashPerCall: number;
  readonly slowPerCall: number;
  readonly failPerCall: number;
  readonly lostHint: number;
  readonly duplicateHint: number;
  readonly delayedHint: number;
  readonly pauseEveryMs?: number;
  readonly clockJumpEveryMs?: number;
  readonly flushEveryMs?: number;
  /** How often the bus goes away for a while. */
  readonly outageEveryMs?: number;
  readonly restartEveryMs?: number;
};

export const calm: Troubles = {
  crashPerCall: 0,
  slowPerCall: 0,
  failPerCall: 0,
  lostHint: 0,
  duplicateHint: 0,
  delayedHint: 0,
};

const kinds: readonly [Partial<Troubles>, ...Partial<Troubles>[]] = [
  { crashPerCall: 0.004 },
  { slowPerCall: 0.02 },
  { failPerCall: 0.02 },
  { lostHint: 0.3, duplicateHint: 0.2, delayedHint: 0.2 },
  { pauseEveryMs: 15_000 },
  { clockJumpEveryMs: 20_000 },
  { flushEveryMs: 20_000 },
  { restartEveryMs: 15_000 },
  { outageEveryMs: 30_000 },
  { crashPerCall: 0.015, lostHint: 0.1 },
  { pauseEveryMs: 10_000, crashPerCall: 0.003 },
];

/** One seed in eight is calm, half have one or two kinds, the rest have most of them. */
export function drawTroubles(chance: Dice): Troubles {
  const draw = chance.integer(0, 7);
  if (draw === 0) return calm;
  const count = draw <= 4 ? chance.integer(1, 2) : chance.integer(5, kinds.length);
  return Object.assign({}, calm, ...chance.shuffled(kinds).slice(0, count)) as Troubles;
}

/** The outcome of one call of a port. */
export type CallPlan = {
  readonly requestMs: number;
  readonly answerMs: number;
  /** The answer is an error, of a call that had no effect or of one that had it. */
  readonly fails?: "before" | "after";
  /** The caller dies: before the request leaves, or before the answer arrives. */
  readonly dies?: "before" | "after";
};

/** The factor on the probability for gateways, which make few calls; each failed one leaves a client without an answer. */
const gatewayCrashFactor = 5;

/** `calls`: the number of calls that make up one of a port. */
export function planCall(troubles: Troubles, chance: Dice, node: string, calls: number): CallPlan {
  const requestMs = chance.fraction() * 2;
  const answerMs = chance.fraction() * 2;
  const moment = chance.chance(0.5) ? "before" : "after";
  const crashFactor = node.startsWith("gateway") ? gatewayCrashFactor : 1;
  if (chance.chance((troubles.crashPerCall * crashFactor) / calls))
    return { requestMs, answerMs, dies: moment };
  if (chance.chance(troubles.failPerCall))
    return { requestMs, answerMs: answerMs + 50, fails: moment };
  if (!chance.chance(troubles.slowPerCall / calls)) return { requestMs, answerMs };
  // Mostly slow, now and then beyond a lease.
  const slowMs = chance.chance(0.1) ? chance.integer(5_000, 40_000) : chance.integer(50, 2_000);
  return moment === "before" ? { requestMs: slowMs, answerMs } : { requestMs, answerMs: slowMs };
}
