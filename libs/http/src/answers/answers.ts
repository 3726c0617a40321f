/** From what went wrong to what the caller reads: faults by the catalogue, a failing store as 503 or 507, all else as 500. */
import { type ServerResponse } from "node:http";
import { faultCatalogue, faultHeader, rateHeaders } from "@posthaste/contract";
import { fault as faultOf, type Fault, type FaultCode, untilMs } from "@posthaste/domain";
import { type Clock, isStoreError, type Log, type Random, type StoreError } from "@posthaste/ports";
import { type AnswerStream, createAnswerRoom } from "./answer-room.ts";
import { answer, answerAndClose, expectsContinue, type FlatHeaders, noHeaders } from "./answer.ts";

import { sendStreamed, type StreamedReply } from "./streamed.ts";

/** A fault that knows when the caller may come back; of a 401, what it asks for where that is not what the API does. */
export type Refusal = Fault & { readonly retryAfterSeconds?: number; readonly challenge?: string };

export type Answers = {
  fault(res: ServerResponse, fault: Refusal, extra?: FlatHeaders): void;
  /** For an answer that tells what was done: it is refused before that or not at all. */
  open(owner: string): AnswerStream | Fault;
  /** Without ever holding it whole. */
  streamed(res: ServerResponse, reply: StreamedReply): Promise<void>;
  /** For what was thrown: nothing of it reaches the caller but an id, under which it is logged. */
  failed(res: ServerResponse, error: unknown): void;
};

export type AnswersOptions = {
  readonly log: Log;
  readonly random: Random;
  readonly clock: Clock;
  /** What a 401 asks for. Default: a token. */
  readonly challenge?: string;
};

/** A body up to this size is read and forgotten by Node, and the connection lives on. */
const unreadBytesMax = 64 * 1024;
/** Whatever is still to come is not wanted. */
const closes: ReadonlySet<FaultCode> = new Set(["too_large", "timed_out"]);
const errorIdLength = 12;
const spreadSeconds = 5;

export function createAnswers(options: AnswersOptions): Answers {
  const { log, random, clock, challenge = "Bearer" } = options;
  const room = createAnswerRoom();
  const after = (ms: number, task: () => void): (() => void) => clock.after(ms, task);

  function fault(res: ServerResponse, refusal: Refusal, extra: FlatHeaders = noHeaders): void {
    const { status } = faultCatalogue[refusal.fault];
    const body = JSON.stringify({ error: refusal.text });
    const headers = [faultHeader, refusal.fault, ...headersOf(refusal), ...extra];
    if (closes.has(refusal.fault) || leavesTooMuchUnread(res)) {
      answerAndClose(res, status, body, { extra: headers, after });
    } else {
      answer(res, status, body, headers);
    }
  }

  function headersOf({ fault: code, rate, retryAfterSeconds, ...refusal }: Refusal): FlatHeaders {
    if (rate) {
      const seconds = Math.max(1, Math.ceil(untilMs(rate.resetsAt, Infinity, clock.now()) / 1_000));
      return ["Retry-After", String(seconds), ...rateHeaders(rate)];
    }
    if (code === "unauthorized") return ["WWW-Authenticate", refusal.challenge ?? challenge];
    const { retryAfter } = faultCatalogue[code];
    if (retryAfter === undefined) return noHeaders;
    return ["Retry-After", String(retryAfterSeconds ?? spread(retryAfter))];
  }

  /** docs/design/outages#refusing-early: callers that were refused together should not come back together. */
  const spread = (seconds: number): number =>
    Math.max(1, seconds - 1 + Math.floor(random.fraction() * spreadSeconds));

  function failed(res: ServerResponse, error: unknown): void {
    if (isStoreError(error)) {
      log.warn("request.refused", { error });
      fault(res, faultOfStore(error));
      return;
    }
    const errorId = random.text(errorIdLength);
    log.error("request.failed", { errorId, error: Error.isError(error) ? error : typeof error });
    fault(res, faultOf("internal", `internal error ${errorId}`));
  }

  async function streamed(res: ServerResponse, reply: StreamedReply): Promise<void> {
    const cut = (error: unknown): void => log.warn("answer.cut", { error });
    const refused = await sendStreamed(res, reply, { room, after, cut });
    if (refused) fault(res, refused);
  }

  return { fault, open: (owner) => room.open(owner), streamed, failed };
}

function leavesTooMuchUnread({ req }: ServerResponse): boolean {
  if (req.complete) return false;
  if (req.headers["transfer-encoding"] !== undefined) return true;
  const bytes = Number(req.headers["content-length"] ?? 0);
  return bytes > unreadBytesMax || (bytes > 0 && expectsContinue(req));
}

function faultOfStore(error: StoreError): Fault {
  switch (error.code) {
    case "disk_full":
      return faultOf("disk_full", "the disk is full");
    case "overloaded":
      return faultOf("overloaded", "too much is waiting to be stored, come back later");
    case "unavailable":
      return faultOf("outcome_unknown", "the store does not answer: this may have happened or not");
  }
}
