/** Finds the later story of a former dead letter, as far as the log still has its message. */
import { type LogEntry } from "@posthaste/client/api";
import { failedAt } from "../rules/letters.ts";
import { call } from "./call.ts";

/** The messages that may have failed within one millisecond. */
const eventsMax = 1_000;

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
