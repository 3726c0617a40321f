/** Tells the story of a message: the reason first, then the message, then its events. */
import { type DeadLetter, type LogEntry, type Message } from "@posthaste/client";

/** The destination's last answer, or why there was none. */
export type Reason = {
  readonly error?: string;
  readonly responseStatus?: number;
  readonly responseBody?: string;
  readonly responseBodyBase64?: string;
  readonly truncated?: true;
};

export type MessageEvent = Reason & {
  readonly time: number;
  readonly state: string;
  readonly nextDeliveryTime?: number;
};

export type Try = Message["attempts"][number];

export type MessageStory = Reason & {
  /** Undefined when the log no longer has the message. */
  readonly state?: string;
  readonly attempts?: number;
  readonly nextDeliveryTime?: number;
  readonly messageId: string;
  /** The message that a retry of the dead letter made. */
  readonly retriedAs?: string;
  /** The attempts one by one, the earliest first. */
  readonly tries: readonly Try[];
  readonly events: readonly MessageEvent[];
};

/** Returns the story. `events` are newest first, `tries` come from the message. */
export function storyOf(
  whole: Message | DeadLetter | LogEntry,
  events: readonly LogEntry[],
  tries: readonly Try[] = [],
): MessageStory {
  const said = "dlqId" in whole && "responseStatus" in whole ? whole : undefined;
  const told = events.map(eventOf);
  // An earlier error explains a message that waits for a retry, but not a delivered one.
  const isWell = told[0]?.state === "DELIVERED";
  const error = isWell ? undefined : told.find(({ state }) => state === "ERROR");
  const state = told[0]?.state ?? (said && "FAILED");
  const dlqId = events.find((each) => each.dlqId !== undefined)?.dlqId;
  const next = told[0]?.nextDeliveryTime;
  const attempts = told.filter((each) => endsAnAttempt(each.state)).length;
  return {
    ...(state !== undefined && { state }),
    ...(said ? reasonOf(said, textOf) : error && reasonIn(error)),
    ...(isWell && answerOf(tries.at(-1))),
    ...(told.length > 0 && { attempts }),
    ...(next !== undefined && { nextDeliveryTime: next }),
    ...(dlqId !== undefined && { dlqId }),
    ...withoutReason(whole),
    tries,
    events: told.toReversed(),
  };
}

const endsAnAttempt = (state: string): boolean => state === "ERROR" || state === "DELIVERED";

function eventOf(entry: LogEntry): MessageEvent {
  const { nextDeliveryTime, state, time } = entry;
  const next = nextDeliveryTime !== undefined && { nextDeliveryTime };
  return { time, state, ...reasonOf(entry, decoded), ...next };
}

type Said = Pick<LogEntry, "error" | "responseBody" | "responseStatus" | "truncated"> & {
  readonly responseBodyBase64?: string | undefined;
};

function reasonOf(
  { error, responseBody, responseBodyBase64, responseStatus, truncated }: Said,
  read: (body: string) => Reason,
): Reason {
  return {
    ...(error !== undefined && { error }),
    ...(responseStatus !== undefined && { responseStatus }),
    ...(responseBody !== undefined && read(responseBody)),
    ...(responseBodyBase64 !== undefined && { responseBodyBase64 }),
    ...(truncated && { truncated }),
  };
}

const reasonIn = ({
  time: _time,
  state: _state,
  nextDeliveryTime: _next,
  ...reason
}: MessageEvent): Reason => reason;

/** Returns the kept part of the answer that delivered the message. */
const answerOf = (last: Try | undefined): Reason => ({
  ...(last?.answerBody !== undefined && { responseBody: last.answerBody }),
  ...(last?.answerBodyBase64 !== undefined && { responseBodyBase64: last.answerBodyBase64 }),
  ...(last?.answerTruncated && { truncated: true }),
});

const textOf = (responseBody: string): Reason => ({ responseBody });

/** Decodes a body of the log. The log cuts bodies in Base64, perhaps within a character; a cut character is dropped. */
function decoded(base64: string): Reason {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  try {
    const responseBody = decoder.decode(Buffer.from(base64, "base64"), { stream: true });
    return { responseBody };
  } catch {
    return { responseBodyBase64: base64 };
  }
}

/** Drops the event's own time and state, which are not the message's, and the attempts, which are shown as tries. */
function withoutReason(whole: Message | DeadLetter | LogEntry) {
  const { error: _error, responseBody: _body, responseStatus: _status, ...rest } = whole as Said;
  const { time: _time, state: _state, nextDeliveryTime: _next, ...own } = rest as Partial<LogEntry>;
  const { attempts: _attempts, ...published } = own as Partial<Message>;
  return published as Omit<Message, "attempts" | "state">;
}
