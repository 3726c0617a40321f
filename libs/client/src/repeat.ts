/** Which calls may be made again without another effect than one has. */
import { type Failure } from "./refusal.ts";

/** The server has said that it did nothing. */
const nothingDone: ReadonlySet<string> = new Set(["overloaded", "too_many_requests", "timed_out"]);
/** Gone by itself, often: of these nothing is known of the outcome. */
const passing: ReadonlySet<number> = new Set([500, 502, 503, 504]);

/** `isRepeatable`: done twice it is done once, as a read, or a publish with a deduplication id. */
export function mayRepeat({ code, status }: Failure, isRepeatable: boolean): boolean {
  if (code === "unreachable" || nothingDone.has(code)) return true;
  if (!isRepeatable) return false;
  return status === undefined ? code === "no_answer" : passing.has(status);
}
