/** A caller's mistake, as a value. The catalogue in `contract` maps each code to its HTTP status; `text` names the field. */
export type Fault = {
  readonly fault: FaultCode;
  readonly text: string;
  /** Set when the caller has sent too many requests. */
  readonly rate?: ExceededRate;
};

export type ExceededRate = {
  readonly of: "messagesPerDay" | "listsPerSecond";
  readonly limit: number;
  readonly left: number;
  /** Unix milliseconds. */
  readonly resetsAt: number;
};

export type FaultCode =
  | "malformed"
  | "unauthorized"
  | "forbidden"
  | "not_found"
  | "method_not_allowed"
  | "timed_out"
  | "conflict"
  | "too_large"
  | "encoding_not_read"
  | "headers_too_large"
  | "beyond_plan"
  | "run_ended"
  /** A request that is not possible in a run. */
  | "run_refused"
  | "too_many_requests"
  | "overloaded"
  | "outcome_unknown"
  | "disk_full"
  | "internal";

export const fault = (code: FaultCode, text: string): Fault => ({ fault: code, text });

export const isFault = (value: unknown): value is Fault =>
  typeof value === "object" && value !== null && "fault" in value && "text" in value;
