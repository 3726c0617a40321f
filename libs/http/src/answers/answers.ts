/** Turns failures into answers: faults by the catalogue, a failing store as 503 or 507, everything else as 500. */
import { type ServerResponse } from "node:http";
import { faultCatalogue, faultHeader, rateHeaders } from "@posthaste/contract";
import { fault as faultOf, type Fault, type FaultCode, untilMs } from "@posthaste/domain";
import {
  type Clock,
  isStoreError,
  type Log,
  type Random,
  type StoreError,
  traceFields,
} from "@posthaste/ports";
import { type AnswerStream, createAnswerLimiter } from "./answer-limiter.ts";
import { answer, answerAndClose, expectsContinue, type FlatHeaders, noHeaders } from "./answer.ts";
import { traceOfFailure } from "./trace-of-failure.ts";
import { sendStreamed, type StreamedReply } from "./streamed.ts";

/** A fault with the time after which the caller may repeat the request and, for a 401, the challenge if it is not the API's. */
export type Refusal = Fault & { readonly retryAfterSeconds?: number; readonly challenge?: string };

export type Answers = {
  fault(res: ServerResponse, fault: Refusal, extra?: FlatHeaders): void;
  /** Opens a stream for an answer that reports finished work: the request is refused before its work or not at all. */
  open(owner: string): AnswerStream | Fault;
  /** Sends the answer without ever holding it whole. */
  streamed(res: ServerResponse, reply: StreamedReply): Promise<void>;
  /** Answers for a thrown error: the caller gets only an id, under which the error is logged. */
  failed(res: ServerResponse, error: unknown): void;
};

export type AnswersOptions = {
  readonly log: Log;
  readonly random: Random;
  readonly clock: Clock;
  /** The challenge of a 401. Default: a token. */
  readonly challenge?: string;
};

/** Node reads and drops a body up to this size, and the connection stays open. */
const unreadBytesMax = 64 * 1024;
/** Faults after which the rest of the request is not read. */
const closes: ReadonlySet<FaultCode> = new Set(["too_large", "timed_out"]);
const errorIdLength = 12;
const spreadSeconds = 5;

export function createAnswers(options: AnswersOptions): Answers {
  const { log, random, clock, challenge = "Bearer" } = options;
  const limiter = createAnswerLimiter();
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

  /** Spreads the times at which callers that were refused together repeat their requests (docs/design/outages#refusing-early). */
  const spread = (seconds: number): number =>
    Math.max(1, seconds - 1 + Math.floor(random.fraction() * spreadSeconds));

  function failed(res: ServerResponse, error: unknown): void {
    const trace = traceFields(traceOfFailure(res.req));
    if (isStoreError(error)) {
      log.warn("request.refused", { error, ...trace });
      fault(res, faultOfStore(error));
      return;
    }
    const errorId = random.text(errorIdLength);
    const shown = Error.isError(error) ? error : typeof error;
    log.error("request.failed", { errorId, error: shown, ...trace });
    fault(res, faultOf("internal", `internal error ${errorId}`));
  }

  async function streamed(res: ServerResponse, reply: StreamedReply): Promise<void> {
    const cut = (error: unknown): void => log.warn("answer.cut", { error });
    const refused = await sendStreamed(res, reply, { limiter, after, cut });
    if (refused) fault(res, refused);
  }

  return { fault, open: (owner) => limiter.open(owner), streamed, failed };
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
    case "indexing":
      return faultOf("overloaded", error.message);
    case "overloaded":
      return faultOf("overloaded", "too much is waiting to be stored, come back later");
    case "unavailable":
      return faultOf("outcome_unknown", "the store does not answer: this may have happened or not");
  }
}
