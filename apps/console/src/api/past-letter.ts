/** What became of a dead letter that is not there any more, as far as the log of its message is kept. */
import { type LogEntry } from "@posthaste/client/api";
import { failedAt } from "../rules/letters.ts";
import { call } from "./call.ts";

/** Of messages that failed within one millisecond. */
const eventsMax = 1_000;

/** Returns the event with which its message failed. */
export async function failureOf(
  session: string,
  dlqId: string,
  signal?: AbortSignal,
): Promise<LogEntry | undefined> {
  const at = failedAt(dlqId);
  if (at === undefined) return undefined;
  const query = { state: "FAILED", fromDate: at, toDate: at, count: eventsMax, trimBody: 0 };
  const { events } = await call(session, { id: "listEvents", query }, signal);
  return events.find((event) => event.dlqId === dlqId);
}
