/**
 * Judges a 2xx answer without the mark of a workflow (docs/design/runs#standing-still). Only such an answer costs a read of the run's head.
 */
import {
  asUnmarked,
  lacksMark,
  type Message,
  type MessageRecord,
  needsMark,
  type Outcome,
} from "@posthaste/domain";
import { type Records, type RunStore } from "@posthaste/ports";
import { ourFault } from "./report.ts";

type Ports = {
  readonly records: Pick<Records, "get">;
  readonly runs: Pick<RunStore, "get">;
};

export async function judged(
  { records, runs }: Ports,
  message: Message,
  outcome: Outcome,
): Promise<Outcome> {
  const { dialect, run, tenant } = message;
  if (!run || !lacksMark(message, outcome)) return outcome;
  try {
    if (!needsMark(await runs.get(run), run)) return outcome;
    const [start] = await records.get(tenant, [run.root]);
    if (start && mayTell(start)) return ourFault("the start of the run is still being answered");
    // The start has been told: the head has its outcome by now.
    return needsMark(await runs.get(run), run) ? asUnmarked(dialect, outcome) : outcome;
  } catch (error) {
    return ourFault(`the run of an answer without a mark could not be read: ${String(error)}`);
  }
}

/** Reports whether the outcome of the start may not be in the run's head yet. */
const mayTell = ({ outbox, state }: MessageRecord): boolean =>
  state.kind === "claimed" || outbox.some(({ kind }) => kind === "run");
