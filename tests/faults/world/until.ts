/** Waits for a condition, however busy the host. */
import { setTimeout as sleep } from "node:timers/promises";

const waitMsMax = 240_000;
const pollMs = 100;

/** Rejects with what was waited for. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  msMax = waitMsMax,
): Promise<void> {
  const giveUpAt = performance.now() + msMax;
  while (!(await holds())) {
    if (performance.now() > giveUpAt) throw new Error(`waited ${msMax} ms in vain until ${what}`);
    await sleep(pollMs);
  }
}
