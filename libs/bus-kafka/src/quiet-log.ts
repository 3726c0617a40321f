/**
 * The log of kafkajs, condensed. kafkajs logs each connection, retry and rebalance, by the thousand while a broker is
 * away. Here equal lines are logged once a second, at the level of debugging; the bus itself logs the important
 * events, once (`bus.up`, `bus.down`).
 */
import { type Clock, type Log } from "@posthaste/ports";
import { logLevel, type logCreator } from "kafkajs";

const windowMs = 1_000;
/** The different lines in one window; more are counted but not logged. */
const linesMax = 50;

export type ClientLog = { readonly level: logLevel; readonly creator: logCreator };

export function quietLog(log: Log, clock: Clock): ClientLog {
  if (!log.debugs) return { level: logLevel.NOTHING, creator: () => () => undefined };
  const said = new Set<string>();
  let windowEndsAt = 0;
  let unsaid = 0;
  const creator: logCreator =
    () =>
    ({ namespace, log: { message, groupId, error } }) => {
      const now = clock.passedMs();
      if (now >= windowEndsAt) {
        said.clear();
        windowEndsAt = now + windowMs;
      }
      const words = `${namespace}:${groupId}:${message}`;
      if (said.has(words) || said.size >= linesMax) return void unsaid++;
      said.add(words);
      log.debug("bus.client", { namespace, message, groupId, error, unsaid });
      unsaid = 0;
    };
  return { level: logLevel.INFO, creator };
}

/** The only sign by which kafkajs reports that a broker has removed messages that a group was to receive next. */
const placeGone = "Offset out of range, resetting to default offset";

export const hearingOfPlaces = (
  { level, creator }: ClientLog,
  gone: (partition: number) => void,
): ClientLog => ({
  level: Math.max(level, logLevel.ERROR),
  creator: (levelNow) => {
    const write = creator(levelNow);
    return (entry) => {
      if (entry.log.message === placeGone) gone(Number(entry.log["partition"]));
      if (entry.level <= level) write(entry);
    };
  },
});
