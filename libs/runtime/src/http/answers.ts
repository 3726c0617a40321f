/** From what went wrong to what the caller reads: faults by the catalogue, a failing store as 503 or 507, all else as 500. */
import { type ServerResponse } from "node:http";
import { fault as faultOf, type Fault, type FaultCode } from "@posthaste/domain";
import { type Clock, type Log, type Random } from "@posthaste/ports";
import { answer, answerAndClose, expectsContinue, type FlatHeaders, noHeaders } from "./answer.ts";

/** A fault that knows when the caller may come back. */
export type Refusal = Fault & { readonly retryAfterSeconds?: number };

export type Answers = {
  fault(res: ServerResponse, fault: Refusal, extra?: FlatHeaders): void;
  /** For what was thrown: nothing of it reaches the caller but an id, under which it is logged. */
  failed(res: ServerResponse, error: unknown): void;
};

export type AnswersOptions = {
  /** The catalogue's status of a fault. */
  readonly statusOf: (code: FaultCode) => number;
  readonly log: Log;
  readonly random: Random;
  readonly clock: Clock;
};

/** A body up to this size is read and forgotten by Node, and the connection lives on. */
const unreadBytesMax = 64 * 1024;
const errorIdLength = 12;
/** reliability.md P12: callers that were refused together should not come back together. */
const retryAfterSecondsMax = 5;

export function createAnswers({ statusOf, log, random, clock }: AnswersOptions): Answers {
  const after = (ms: number, task: () => void): (() => void) => clock.after(ms, task);

  function fault(res: ServerResponse, refusal: Refusal, extra: FlatHeaders = noHeaders): void {
    const status = statusOf(refusal.fault);
    const body = JSON.stringify({ error: refusal.text });
    const headers = [...headersOf(refusal), ...extra];
    if (refusal.fault === "too_large" || leavesTooMuchUnread(res)) {
      answerAndClose(res, status, body, { extra: headers, after });
    } else {
      answer(res, status, body, headers);
    }
  }

  function headersOf(refusal: Refusal): FlatHeaders {
    switch (refusal.fault) {
      case "unauthorized":
        return ["WWW-Authenticate", "Bearer"];
      case "overloaded":
      case "outcome_unknown":
      case "disk_full":
      case "too_many_requests":
        return ["Retry-After", String(refusal.retryAfterSeconds ?? soon())];
      default:
        return noHeaders;
    }
  }

  const soon = (): number => 1 + Math.floor(random.fraction() * retryAfterSecondsMax);

  function failed(res: ServerResponse, error: unknown): void {
    const known = faultOfStore(error);
    if (known) {
      log.warn("request.refused", { reason: known.fault, error });
      fault(res, known);
      return;
    }
    const errorId = random.text(errorIdLength);
    log.error("request.failed", { errorId, error: Error.isError(error) ? error : typeof error });
    fault(res, faultOf("internal", `internal error ${errorId}`));
  }

  return { fault, failed };
}

function leavesTooMuchUnread({ req }: ServerResponse): boolean {
  if (req.complete) return false;
  if (req.headers["transfer-encoding"] !== undefined) return true;
  const bytes = Number(req.headers["content-length"] ?? 0);
  return bytes > unreadBytesMax || (bytes > 0 && expectsContinue(req));
}

/** The codes of ports' StoreError, told by its code: an error may come from another realm. */
function faultOfStore(error: unknown): Fault | undefined {
  if (!Error.isError(error) || error.name !== "StoreError" || !("code" in error)) return undefined;
  switch (error.code) {
    case "disk_full":
      return faultOf("disk_full", "the disk is full");
    case "overloaded":
      return faultOf("overloaded", "too much is waiting to be stored, come back later");
    case "unavailable":
      return faultOf("overloaded", "the store is not available, come back later");
    default:
      return undefined;
  }
}
