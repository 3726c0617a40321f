/** The log as it is written: one request after another, each of which waits for events and goes on where the last one ended. */
import { type LogEntry, type Operations } from "./api.ts";
import { type AnyAsked, type CallOptions } from "./operations.ts";
import { pause } from "./pause.ts";
import { type PosthasteError } from "./refusal.ts";

type EventQuery = Operations["listEvents"]["query"];
/** `fromDate`: begin there, and not now. */
export type FollowQuery = Omit<EventQuery, "cursor" | "order" | "toDate" | "wait">;
export type FollowOptions = Pick<CallOptions, "signal"> & {
  /** A server that is away is asked again for so long. Default a minute; then it rejects. */
  readonly patienceMs?: number;
};

const waitSeconds = 25;
/** Beyond the wait. */
const answerMsMax = 15_000;
const patienceMsDefault = 60_000;
const pauseMs = 1_000;
/** An event that is told again comes soon after. */
const rememberedMax = 5_000;

type Page = Extract<Operations["listEvents"]["answer"], { events: unknown }>;

/** `call`: of one page. Each event once. */
export async function* followed(
  call: (asked: AnyAsked) => Promise<Page>,
  query: FollowQuery,
  { signal, patienceMs = patienceMsDefault }: FollowOptions,
): AsyncGenerator<LogEntry, void, undefined> {
  const told = new Set<string>();
  let cursor: string | undefined;
  let answeredAt = performance.now();
  // Until the caller has had enough: its loop ends, or its signal aborts.
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

/** The server is away, or stops: it is asked again. What it refuses it would refuse again. */
function isPassing(error: unknown): boolean {
  const { code, name, status = 0 } = Object(error) as Partial<PosthasteError>;
  if (name !== "PosthasteError") return false;
  return code === "unreachable" || code === "no_answer" || status === 429 || status >= 500;
}
