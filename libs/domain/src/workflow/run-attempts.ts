/** Failed attempts of a run's deliveries that were followed by another attempt. All other effects of an attempt are in the run itself. */
import { type AttemptFact } from "../message/follow-up.ts";
import { type InRun } from "../message/message.ts";
import { runAttemptsMax } from "../shared/limits.ts";
import { type PartName } from "./part-key.ts";

export type RunAttempt = { readonly part: PartName; readonly fact: AttemptFact };

/** Returns the attempt to remove when `attempt` is stored: the latest `runAttemptsMax` of one delivery are kept. */
export const attemptReplacedBy = (attempt: number): number | undefined =>
  attempt < runAttemptsMax ? undefined : attempt - runAttemptsMax;

export type ToldAttempt = {
  readonly run: Pick<InRun, "root" | "part">;
  readonly fact: AttemptFact;
};

export const byTime = (a: RunAttempt, b: RunAttempt): number =>
  a.fact.endedAt - b.fact.endedAt ||
  (a.part < b.part ? -1 : a.part > b.part ? 1 : a.fact.attempt - b.fact.attempt);
