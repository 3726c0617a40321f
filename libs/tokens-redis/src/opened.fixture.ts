/** Token stores for suites that run against a real Redis, and time limits for busy hosts: these suites measure no time. */
import { systemClock, systemRandom } from "@posthaste/process";
import { type RecordingLog, recordingLog } from "@posthaste/testing";
import { openRedisTokens, type RedisTokens, type RedisTokensOptions } from "./redis-tokens.ts";

const patienceMs = 60_000;
const connectMs = 2_000;
const pollMs = 10;

export const clock = systemClock();

export type Opened = RedisTokens & { readonly log: RecordingLog; readonly prefix: string };

/**
 * Opens a store with a prefix of its own unless one is given, and a budget that a busy host can keep. A search ends
 * as soon as in production.
 */
export function openTokens(
  url: string,
  options: Partial<Omit<RedisTokensOptions, "url" | "clock" | "log">> = {},
): Opened {
  const log = recordingLog();
  const { prefix = `test-${systemRandom().text(12)}:` } = options;
  const tokens = openRedisTokens({
    url,
    budgetMs: patienceMs,
    connectMs,
    clock,
    log,
    ...options,
    prefix,
  });
  return { ...tokens, log, prefix };
}

export const wait = (ms: number): Promise<void> =>
  new Promise((resolve) => void clock.after(ms, resolve));

export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAt = clock.now() + patienceMs;
  while (!(await holds())) {
    if (clock.now() > giveUpAt) throw new Error(`waited in vain until ${what}`);
    await wait(pollMs);
  }
}

export const untilUp = (tokens: RedisTokens): Promise<void> =>
  until("Redis is up", () => tokens.isUp());
