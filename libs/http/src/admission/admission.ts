/**
 * Refusing early under load (docs/design/outages#refusing-early): a rising share of requests gets 503, what can wait first. The share
 * moves once a second, when a request asks: an idle process does nothing for it.
 */
import { fault } from "@posthaste/domain";
import { type Clock, type Random } from "@posthaste/ports";
import { type Refusal } from "../answers/answers.ts";
import { createLoopDelay } from "./loop-delay.ts";

/**
 * The kinds stand in the order in which they are refused. `ongoing` goes on with what was accepted, or ends it, and is never refused: a step that
 * has run would run again, and a cancellation or a pause is what takes load away. Nor is health.
 */
export type RequestKind = "list" | "read" | "publish" | "ongoing" | "health";

/** What was seen in the last second or so; of the event loop its worst delay. */
export type Load = { readonly loopDelayMs: number; readonly storeWaitMs: number };

/** `share`: of 0 … 1, how hard we refuse. `slowSince`: when the event loop began to be slow without a break. */
export type Pressure = {
  readonly share: number;
  readonly slowSince: number | undefined;
  readonly sampledAt: number;
};

const loopDelayMsMax = 200;
const slowForMs = 5_000;
const storeWaitMsMax = 500;
const sampleEveryMs = 1_000;
const stepPerSample = 0.1;
/** No request asked for longer than that: what was seen before says nothing about now. */
const breakMs = 3 * sampleEveryMs;

/** Up by one step while there is too much, down by one for every second in which there was not. Pure. */
export function nextPressure(pressure: Pressure, load: Load, passedMs: number): Pressure {
  const elapsedMs = passedMs - pressure.sampledAt;
  const unbroken = elapsedMs <= breakMs ? pressure.slowSince : undefined;
  const slowSince = load.loopDelayMs > loopDelayMsMax ? (unbroken ?? passedMs) : undefined;
  const isSlow = slowSince !== undefined && passedMs - slowSince >= slowForMs;
  const isTooMuch = isSlow || load.storeWaitMs > storeWaitMsMax;
  const steps = isTooMuch ? 1 : -Math.floor(elapsedMs / sampleEveryMs);
  const share = Math.min(1, Math.max(0, pressure.share + steps * stepPerSample));
  // Rounded, so that ten steps up and ten steps down end at exactly nothing.
  return { share: Math.round(share * 10) / 10, slowSince, sampledAt: passedMs };
}

/** The chance of being refused: lists are all gone at a quarter of the scale, reads at half, where publishes begin. Pure. */
export function refusalChance(kind: RequestKind, share: number): number {
  switch (kind) {
    case "ongoing":
    case "health":
      return 0;
    case "list":
      return Math.min(1, share * 4);
    case "read":
      return Math.min(1, share * 2);
    case "publish":
      // Never all of them: some must get through to show that it is over.
      return Math.min(0.95, Math.max(0, share - 0.5) * 2);
  }
}

export type Admission = {
  /** Undefined: come in. */
  readonly refuse: (kind: RequestKind) => Refusal | undefined;
  readonly close: () => void;
};

export type AdmissionOptions = {
  readonly clock: Clock;
  readonly random: Random;
  /** How long the oldest insert has been waiting for its commit. */
  readonly storeWaitMs: () => number;
};

export function createAdmission({ clock, random, storeWaitMs }: AdmissionOptions): Admission {
  const loopDelay = createLoopDelay(clock);
  let pressure: Pressure = { share: 0, slowSince: undefined, sampledAt: clock.passedMs() };
  return {
    refuse: (kind) => {
      const passedMs = clock.passedMs();
      loopDelay.watch();
      if (passedMs - pressure.sampledAt >= sampleEveryMs) {
        const load = { loopDelayMs: loopDelay.takeMs(), storeWaitMs: storeWaitMs() };
        pressure = nextPressure(pressure, load, passedMs);
      }
      if (pressure.share === 0) return undefined;
      return random.fraction() < refusalChance(kind, pressure.share) ? tooMuchLoad : undefined;
    },
    close: () => loopDelay.close(),
  };
}

const tooMuchLoad: Refusal = fault("overloaded", "too much load, come back later");
