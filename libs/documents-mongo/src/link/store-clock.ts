/**
 * The store's time: this process's clock, which no step of the host's clock moves, plus an offset measured at every
 * heartbeat.
 *
 * (1) after a step back of up to `backMsMax` the time stops for as long. A larger step means that the server's clock was
 *     set.
 */
import { type Clock, watchSetting } from "@posthaste/ports";

export type StoreClock = Clock & {
  /** Takes a measurement: the server reported `serverMs` between this process's `sentMs` and `receivedMs`, all Unix milliseconds. */
  readonly measured: (sentMs: number, serverMs: number, receivedMs: number) => void;
};

export function createStoreClock(clock: Clock): StoreClock {
  let offsetMs = 0;
  let errorMs = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  const now = (): number => {
    const time = clock.now() + offsetMs;
    last = time < last && last - time <= backMsMax ? last : time;
    return last;
  };
  const passedMs = (): number => clock.passedMs();
  return {
    now,
    passedMs,
    setAheadMs: watchSetting(now, passedMs),
    after: (ms, task) => clock.after(ms, task),
    measured: (sentMs, serverMs, receivedMs) => {
      // A slow answer is imprecise: it replaces a quick one only if that has grown old.
      const uncertainMs = (receivedMs - sentMs) / 2;
      const measuredMs = Math.round(serverMs - (sentMs + receivedMs) / 2);
      errorMs += driftMsPerMeasurement;
      // Unless the two contradict each other: then the newer one holds.
      const isContradicted = Math.abs(measuredMs - offsetMs) > uncertainMs + errorMs;
      if (uncertainMs > errorMs && !isContradicted) return;
      errorMs = uncertainMs;
      offsetMs = measuredMs;
    },
  };
}

const backMsMax = 5_000;
const driftMsPerMeasurement = 1;
