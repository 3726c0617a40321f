/** Attempts of the deliveries of runs: the workflow-log writes them, and they are read with their run. */
import {
  answerOfFact,
  attemptReplacedBy,
  byTime,
  limits,
  type RunAttempt,
} from "@posthaste/domain";
import { type RunLog } from "@posthaste/ports";
import { bytes } from "../bytes.ts";
import { insertMissing } from "../insert-missing.ts";
import { type StoreWithRuns } from "./store.ts";
import { attemptKey, type StoredAttempt } from "./stored-run.ts";

export const createAttempts = ({
  again,
  attempts,
}: StoreWithRuns): Pick<RunLog, "attempts" | "append"> => ({
  attempts: async ({ root }) => {
    const latest = await again(() =>
      attempts.find({ run: root }).sort({ at: -1 }).limit(limits.runAttemptsShownMax).toArray(),
    );
    return latest.map(attemptFrom).toSorted(byTime);
  },
  append: async (told) => {
    const stored = told.map(({ run: { root, part }, fact }): StoredAttempt => {
      const response = fact.response && answerOfFact(fact.response);
      return {
        _id: attemptKey(root, part, fact.attempt),
        run: root,
        at: fact.endedAt,
        part,
        fact: { ...fact, ...(response && { response }) },
      };
    });
    await insertMissing(again, attempts, stored);
    const replaced = told.flatMap(({ run: { root, part }, fact: { attempt } }) => {
      const earlier = attemptReplacedBy(attempt);
      return earlier === undefined ? [] : attemptKey(root, part, earlier);
    });
    if (replaced.length > 0) await again(() => attempts.deleteMany({ _id: { $in: replaced } }));
  },
});

function attemptFrom({ part, fact: { response, ...fact } }: StoredAttempt): RunAttempt {
  if (!response) return { part, fact };
  return { part, fact: { ...fact, response: { ...response, body: bytes(response.body) } } };
}
