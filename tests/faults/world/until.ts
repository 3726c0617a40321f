/** Waits for a condition, however busy the host. */
import { setTimeout as sleep } from "node:timers/promises";

const waitMsMax = 240_000;
const pollMs = 100;
/** After each question waits this many times as long as it took, so that a long history leaves time to the servers. */
const restPerAsking = 4;

/** Waits until the condition holds. Rejects with its description. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  msMax = waitMsMax,
): Promise<void> {
  const giveUpAt = performance.now() + msMax;
  for (;;) {
    const askedAt = performance.now();
    if (await holds()) return;
    const askedMs = performance.now() - askedAt;
    if (performance.now() > giveUpAt) throw new Error(`waited ${msMax} ms in vain until ${what}`);
    await sleep(Math.max(pollMs, restPerAsking * askedMs));
  }
}
