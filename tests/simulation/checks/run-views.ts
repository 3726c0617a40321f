/** R19: values that a run redacts are in no list that shows the run. */
import { createHash } from "node:crypto";
import {
  atOnce,
  failedRunJson,
  runEvents,
  runJson,
  runMessages,
  type RunReading,
  shownAttempt,
  shownParts,
  type ReadView,
} from "@posthaste/contract";
import { isFailed, type Run } from "@posthaste/domain";
import { type Backend } from "../backend.ts";
import { policyOf } from "../runs/commands.ts";
import { type History } from "../world/history.ts";
import { type Story } from "./run-story.ts";

const view: ReadView = { sha256: (value) => createHash("sha256").update(value).digest("hex") };

/** Occurs in the payload of every program, and in the results of its code steps. */
const hidden = "program";

export async function checkViews(
  history: History,
  { program, run }: Story,
  backend: Backend,
): Promise<void> {
  if (!policyOf(program).redaction?.body) return;
  history.count("runs.redacted");
  const reading = await readingOf(backend, run);
  const letter = isFailed(run) ? failedRunJson({ ...reading, run }, view) : undefined;
  const shown = JSON.stringify([
    runJson(reading, view, true),
    runEvents(reading, view),
    runMessages(reading, view),
    letter,
  ]);
  if (shown.includes(hidden)) history.violate("R19", `${run.key} is shown as it is: ${shown}`);
}

async function readingOf({ runLog }: Backend, run: Run): Promise<RunReading> {
  const { add, shown } = shownParts(run, view);
  let after: string | undefined = "";
  // Each turn begins behind the last part of the one before.
  while (after !== undefined) {
    const { next, parts } = await runLog.parts(run, after);
    for (const part of parts) atOnce(add(part));
    after = next;
  }
  const attempts = (await runLog.attempts(run)).map((each) => shownAttempt(run, each, view));
  return { run, parts: shown, progress: new Map(), attempts };
}
