/**
 * Attempts of the deliveries of a run that failed and were followed by another. What an attempt has caused otherwise stands
 * in the run itself.
 */
import { type AttemptFact } from "../message/follow-up.ts";
import { type InRun } from "../message/message.ts";
import { runAttemptsMax } from "../shared/limits.ts";
import { type PartName } from "./run.ts";

export type RunAttempt = { readonly part: PartName; readonly fact: AttemptFact };

/** Of one delivery so many are kept, the latest: the attempt that goes when this one comes. */
export const attemptReplacedBy = (attempt: number): number | undefined =>
  attempt < runAttemptsMax ? undefined : attempt - runAttemptsMax;

/** What a log of runs is told. */
export type ToldAttempt = {
  readonly run: Pick<InRun, "root" | "part">;
  readonly fact: AttemptFact;
};

/** In the order of time. */
export const byTime = (a: RunAttempt, b: RunAttempt): number =>
  a.fact.endedAt - b.fact.endedAt ||
  (a.part < b.part ? -1 : a.part > b.part ? 1 : a.fact.attempt - b.fact.attempt);
