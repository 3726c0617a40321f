/** Steps: the attempt and the state of an event as one number. */
import { type LogState, logStates, rankOf } from "@posthaste/domain";

/** Sorts events of one message that share a time, and identifies the event within its message. */
export const stepOf = (attempt: number, state: LogState): number => attempt * ranks + rankOf[state];
export const attemptOf = (step: number): number => Math.floor(step / ranks);

/** Steps per attempt, one per state. The SQL of this folder relies on the value. */
export const ranks: (typeof logStates)["length"] = 8;
const stateByRank = logStates.toSorted((a, b) => rankOf[a] - rankOf[b]);

export function stateOf(step: number): LogState {
  const state = stateByRank[step % ranks];
  if (state === undefined) throw new Error(`unknown step ${step} in the log`);
  return state;
}
