/**
 * Refuses requests early under load (docs/design/outages#refusing-early): a rising share of requests gets 503, the
 * kinds that can wait first. The share moves once a second, when a request arrives, so that an idle process does no
 * work for it.
 */
import { fault } from "@posthaste/domain";
import { type Clock, type Random } from "@posthaste/ports";
import { type Refusal } from "../answers/answers.ts";

/**
 * Kinds in the order in which they are refused. `ongoing` requests continue or end accepted work and are never
 * refused: a step that has run would run again, and a cancellation or a pause reduces load. `health` is never refused
 * either.
 */
export type RequestKind = "list" | "read" | "publish" | "ongoing" | "health";

/** The load of about the last second: the worst delay of the event loop, and the longest wait for the store. */
export type Load = { readonly loopDelayMs: number; readonly storeWaitMs: number };

/** `share`: the strength of refusals, from 0 to 1. `slowSince`: since when the event loop has been slow without a break. */
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
/** After this long without a request, earlier samples do not count. */
const breakMs = 3 * sampleEveryMs;

/** Raises the share by one step while the load is too high, and lowers it by one for each second in which it is not. Pure. */
export function nextPressure(pressure: Pressure, load: Load, passedMs: number): Pressure {
  const elapsedMs = passedMs - pressure.sampledAt;
  const unbroken = elapsedMs <= breakMs ? pressure.slowSince : undefined;
  const slowSince = load.loopDelayMs > loopDelayMsMax ? (unbroken ?? passedMs) : undefined;
  const isSlow = slowSince !== undefined && passedMs - slowSince >= slowForMs;
  const isTooMuch = isSlow || load.storeWaitMs > storeWaitMsMax;
  const steps = isTooMuch ? 1 : -Math.floor(elapsedMs / sampleEveryMs);
  const share = Math.min(1, Math.max(0, pressure.share + steps * stepPerSample));
  // Rounded, so that ten steps up and ten steps down end at exactly 0.
  return { share: Math.round(share * 10) / 10, slowSince, sampledAt: passedMs };
}

/** Returns the chance of a refusal: lists are all refused at a quarter of the scale, reads at half, where publishes begin. Pure. */
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
      // Never all: some must get through to show that the load is over.
      return Math.min(0.95, Math.max(0, share - 0.5) * 2);
  }
}

export type Admission = {
  /** Returns undefined for a request that is let in. */
  readonly refuse: (kind: RequestKind) => Refusal | undefined;
  readonly close: () => void;
};

export type AdmissionOptions = {
  readonly clock: Clock;
  readonly random: Random;
  /** Returns how long the oldest insert has waited for its commit. */
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

type LoopDelay = {
  /** Keeps watching for a while. Must be called when there is work. */
  watch(): void;
  /** Returns the worst delay since the last call. */
  takeMs(): number;
  close(): void;
};

const timerMs = 100;

/**
 * Measures how late timers fire, with ten timers a second while requests come and none otherwise. Node's own histogram
 * ticks for ever, and drops the tick that a reset falls into, which is the late one.
 */
export function createLoopDelay(clock: Clock): LoopDelay {
  let worstMs = 0;
  let wanted = false;
  let callOff: (() => void) | undefined;

  function arm(): void {
    wanted = false;
    const dueAt = clock.passedMs() + timerMs;
    callOff = clock.after(timerMs, () => {
      worstMs = Math.max(worstMs, clock.passedMs() - dueAt);
      if (wanted) arm();
      else callOff = undefined;
    });
  }

  return {
    watch: () => {
      wanted = true;
      if (!callOff) arm();
    },
    takeMs: () => {
      const takenMs = worstMs;
      worstMs = 0;
      return takenMs;
    },
    close: () => {
      callOff?.();
      callOff = undefined;
    },
  };
}
