/** Decides which failed calls are repeated. */
import { type Failure } from "./refusal.ts";

/** Faults by which the server says that it did nothing. */
const nothingDone: ReadonlySet<string> = new Set(["overloaded", "too_many_requests", "timed_out"]);
/** Statuses that often pass, and leave the outcome unknown. */
const passing: ReadonlySet<number> = new Set([500, 502, 503, 504]);

/** Reports whether to repeat. `isRepeatable`: a repeat has no further effect, as for a read or a publish with a deduplication id. */
export function mayRepeat({ code, status }: Failure, isRepeatable: boolean): boolean {
  if (code === "unreachable" || nothingDone.has(code)) return true;
  if (!isRepeatable) return false;
  return status === undefined ? code === "no_answer" : passing.has(status);
}
