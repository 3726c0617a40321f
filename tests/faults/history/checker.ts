/**
 * The independent checker: reads only the journal of a run (journal.ts). The rules have their names from
 * docs/guarantees#the-checkers-rules; each is a function of its own.
 */
import { callbackRules } from "./callbacks.ts";
import { deduplicationRules } from "./deduplication.ts";
import { deliveryRules } from "./deliveries.ts";
import { type History } from "./journal.ts";
import { laneRules } from "./lanes.ts";
import { publishRules } from "./publishes.ts";
import { queueRules } from "./queues.ts";
import { explainedRepeats, repeatRules } from "./repeats.ts";
import { runRules } from "./runs.ts";
import { scheduleRules } from "./schedules.ts";
import { shown, type Violation } from "./violation.ts";

export type Verdict = {
  readonly acknowledged: number;
  readonly refused: number;
  readonly arrived: number;
  readonly runs: number;
  /** Messages of slots. */
  readonly fired: number;
  readonly explainedRepeats: number;
  readonly deliveredWithoutAck: number;
  readonly violations: readonly string[];
};

const rules: readonly ((history: History) => readonly Violation[])[] = [
  publishRules,
  deliveryRules,
  repeatRules,
  callbackRules,
  laneRules,
  queueRules,
  deduplicationRules,
  runRules,
  scheduleRules,
];
const violationsShown = 20;

export function check(history: History): Verdict {
  const { acks, arrivals, ends, firings, refusals } = history;
  const acked = new Set(acks.map(({ id }) => id));
  const unacked = arrivals.filter(({ id, tells }) => tells === undefined && !acked.has(id));
  return {
    acknowledged: acks.length,
    refused: refusals.length,
    arrived: arrivals.length,
    runs: new Set(ends.map(({ n }) => n)).size,
    fired: new Set(firings.map(({ id }) => id)).size,
    explainedRepeats: explainedRepeats(history),
    deliveredWithoutAck: new Set(unacked.map(({ id }) => id)).size,
    violations: rules
      .flatMap((rule) => rule(history))
      .slice(0, violationsShown)
      .map(shown),
  };
}
