/** Groups attempts of the log by destination: which fail, with which error and since when, and how long deliveries take. */
import { type LogEntry } from "@posthaste/client/api";
import { placeOf } from "./letters.ts";

export type Failing = {
  readonly place: string;
  readonly count: number;
  /** The time of the oldest failure. */
  readonly since: number;
  readonly last: LogEntry;
  readonly isOneUrl: boolean;
};

/** `events` are failed attempts, newest first. Sorts the most failures first. */
export function failingOf(events: readonly LogEntry[]): readonly Failing[] {
  const byPlace = Map.groupBy(events, ({ url }) => placeOf(url));
  return [...byPlace]
    .flatMap(([place, own]): readonly Failing[] => {
      const [last] = own;
      if (last === undefined) return [];
      const since = own.at(-1)?.time ?? last.time;
      const isOneUrl = own.every(({ url }) => url === last.url);
      return [{ place, count: own.length, since, last, isOneUrl }];
    })
    .toSorted((a, b) => b.count - a.count);
}

export type Latency = { readonly count: number; readonly median: number; readonly p99: number };

/** `events` are newest first. Uses the messages whose acceptance and delivery are both among them. */
export function latencyOf(events: readonly LogEntry[]): Latency | undefined {
  const delivered = new Map<string, number>();
  const took: number[] = [];
  for (const { messageId, state, time } of events) {
    if (state === "DELIVERED") delivered.set(messageId, time);
    const at = delivered.get(messageId);
    if (state === "CREATED" && at !== undefined) took.push(at - time);
  }
  took.sort((a, b) => a - b);
  const at = (share: number): number => took[Math.floor((took.length - 1) * share)] ?? 0;
  return took.length === 0 ? undefined : { count: took.length, median: at(0.5), p99: at(0.99) };
}
