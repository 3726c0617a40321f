/**
 * The catalogue of faults: the status and advice of each on the wire (docs/design/wire#statuses). `docs/errors.md` is
 * generated from it. The body of every fault is `{"error": text}`: some clients parse nothing else.
 */
import { type ExceededRate, type FaultCode } from "@posthaste/domain";

export type FaultEntry = {
  readonly status: number;
  readonly title: string;
  /** What the caller can do about it. */
  readonly advice: string;
  /** Seconds for a Retry-After header. */
  readonly retryAfter?: number;
};

export const faultCatalogue: Readonly<Record<FaultCode, FaultEntry>> = {
  malformed: {
    status: 400,
    title: "Malformed request",
    advice:
      "Correct the header, parameter or field that the text names. For an unknown name the text has the nearest known one.",
  },
  unauthorized: {
    status: 401,
    title: "Missing or unknown credentials",
    advice: "Send `Authorization: Bearer <token>`; for the management API, its user and password.",
  },
  forbidden: {
    status: 403,
    title: "Not allowed with this token, or to this operator",
    advice:
      "Use a token of one of the scopes, or an operator of one of the roles, that the text names.",
  },
  not_found: {
    status: 404,
    title: "Not found",
    advice: "Check the id or name. A message is removed shortly after it has ended.",
  },
  method_not_allowed: {
    status: 405,
    title: "Method not allowed",
    advice: "Use a method that the Allow header lists.",
  },
  timed_out: {
    status: 408,
    title: "Took too long",
    advice: "Nothing was accepted. Send the request again, its body without long pauses.",
  },
  conflict: {
    status: 409,
    title: "In conflict with an existing item",
    advice: "Use another id, or first remove the item that the text names.",
  },
  beyond_plan: {
    status: 412,
    title: "Beyond the plan's limits",
    advice: "Ask for less, or have the plan raised.",
  },
  run_ended: {
    status: 400,
    title: "The run has ended",
    advice: "Nothing. Workflow clients know this answer, and skip the step.",
  },
  run_refused: {
    status: 412,
    title: "Not possible in a run",
    advice: "Correct the part that the text names. Workflow clients fail the run.",
  },
  too_large: {
    status: 413,
    title: "Body too large",
    advice: "Send a smaller body. The connection is closed.",
  },
  encoding_not_read: {
    status: 415,
    title: "Encoding of the body not supported",
    advice: "Send the body as it is, without a Content-Encoding.",
  },
  too_many_requests: {
    status: 429,
    title: "Too many requests",
    advice: "Repeat the request after the time that Retry-After names.",
    retryAfter: 1,
  },
  headers_too_large: {
    status: 431,
    title: "Headers too large",
    advice: "Send fewer or shorter headers.",
  },
  internal: {
    status: 500,
    title: "Internal error",
    advice: "The outcome is unknown. Repeat with the same deduplication id.",
  },
  overloaded: {
    status: 503,
    title: "Overloaded",
    advice: "Nothing was accepted. Repeat the request after the time that Retry-After names.",
    retryAfter: 2,
  },
  outcome_unknown: {
    status: 503,
    title: "Outcome unknown",
    advice: "The message may have been accepted. Repeat with the same deduplication id.",
    retryAfter: 2,
  },
  disk_full: {
    status: 507,
    title: "Disk full",
    advice: "Nothing was accepted. Deliveries continue; free space on the server.",
    retryAfter: 30,
  },
};

/** Holds the code of each refusal: several faults share a status, and differ in whether the request may be repeated. */
export const faultHeader = "Posthaste-Fault";

/** Clients tell the two quotas apart by the family of names alone. */
const rateFamilies = {
  messagesPerDay: "RateLimit",
  listsPerSecond: "Burst-RateLimit",
} as const satisfies Record<ExceededRate["of"], string>;

/** Returns names and values in turn; times are Unix seconds. */
export function rateHeaders({ of, limit, left, resetsAt }: ExceededRate): readonly string[] {
  const family = rateFamilies[of];
  return [
    ...[`${family}-Limit`, String(limit)],
    ...[`${family}-Remaining`, String(left)],
    ...[`${family}-Reset`, String(Math.ceil(resetsAt / 1_000))],
  ];
}
