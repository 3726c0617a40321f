/** Follows the log: one request after another, each of which waits for events and starts at the last one's cursor. */
import { type LogEntry, type Operations } from "./api.ts";
import { type AnyAsked, type CallOptions } from "./operations.ts";
import { pause } from "./pause.ts";
import { type PosthasteError } from "./refusal.ts";

type EventQuery = Operations["listEvents"]["query"];
/** `fromDate` begins at that time instead of now. */
export type FollowQuery = Omit<EventQuery, "cursor" | "order" | "toDate" | "wait">;
export type FollowOptions = Pick<CallOptions, "signal"> & {
  /** How long a call is repeated while the server is away, before it rejects. Default 60 s. */
  readonly patienceMs?: number;
};

const waitSeconds = 25;
/** The time for an answer beyond the wait. */
const answerMsMax = 15_000;
const patienceMsDefault = 60_000;
const pauseMs = 1_000;
/** The number of remembered events. A repeated event follows its original closely, so a bound is enough. */
const rememberedMax = 5_000;

type Page = Extract<Operations["listEvents"]["answer"], { events: unknown }>;

/** Yields each event once. `call` reads one page. */
export async function* followed(
  call: (asked: AnyAsked) => Promise<Page>,
  query: FollowQuery,
  { signal, patienceMs = patienceMsDefault }: FollowOptions,
): AsyncGenerator<LogEntry, void, undefined> {
  const told = new Set<string>();
  let cursor: string | undefined;
  let answeredAt = performance.now();
  // Ends when the caller's loop ends or the signal aborts.
  for (;;) {
    const asked: AnyAsked = {
      query: { ...query, wait: waitSeconds, ...(cursor !== undefined && { cursor }) },
      timeoutMs: waitSeconds * 1_000 + answerMsMax,
      ...(signal && { signal }),
    };
    try {
      const page = await call(asked);
      cursor = page.cursor;
      for (const event of page.events) if (isNew(told, event)) yield event;
      answeredAt = performance.now();
    } catch (error) {
      const isOver = cursor === undefined || performance.now() - answeredAt > patienceMs;
      if (isOver || !isPassing(error)) throw error;
      await pause(pauseMs, signal);
    }
  }
}

function isNew(told: Set<string>, { messageId, state, time }: LogEntry): boolean {
  const name = `${messageId} ${state} ${time}`;
  if (told.has(name)) return false;
  const [oldest] = told;
  if (told.size >= rememberedMax && oldest !== undefined) told.delete(oldest);
  told.add(name);
  return true;
}

/** Reports whether asking again may help: the server is away, overloaded or stopping. Other refusals are final. */
function isPassing(error: unknown): boolean {
  const { code, name, status = 0 } = Object(error) as Partial<PosthasteError>;
  if (name !== "PosthasteError") return false;
  return code === "unreachable" || code === "no_answer" || status === 429 || status >= 500;
}
