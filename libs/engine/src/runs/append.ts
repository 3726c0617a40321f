/** Appends steps: plans and results join the history of their run in one change, all or none. */
import {
  append,
  bytesOfEntry,
  fault,
  type Fault,
  isActive,
  isHeld,
  limits,
  notBeforeOfStep,
  partOf,
  type Run,
  type RunCommand,
  type RunIn,
  runMessageId,
  withHooks,
} from "@posthaste/domain";
import { type Decision } from "@posthaste/ports";
import { type Published } from "../publish/accept.ts";
import { addressOf, deliveryFor, Deliveries, writeOfEntries } from "./deliveries.ts";
import { answerFor, type RunPorts } from "./start.ts";

/** Returns the fault of an ended run, in the words that clients look for. */
export const runEnded = (): Fault =>
  fault("run_ended", "failed to publish to url: can not append to a a cancelled workflow");

/** Appends steps of one run, in order. */
export async function appendSteps(
  ports: RunPorts,
  commands: readonly RunCommand<"entry">[],
): Promise<readonly Published[] | Fault> {
  const [first] = commands;
  if (!first) return [];
  const address = addressOf(first);
  const deliveries = new Deliveries(
    ports,
    first.tenant,
    commands.map(({ destination: { url } }) => url),
  );
  const outcome = await deliveries.change(address, (run) =>
    decide(ports, run, commands, deliveries),
  );
  if (!outcome || "fault" in outcome) return outcome ?? runEnded();
  const { deduplicated, run } = outcome;
  return commands.map(({ destination: { url }, run: { key } }, i) =>
    answerFor(run, runMessageId(run.root, partOf(key)), deduplicated[i] ?? false, url),
  );
}

type Verdict = Fault | { readonly run: Run; readonly deduplicated: readonly boolean[] };

function decide(
  { clock }: RunPorts,
  run: Run,
  commands: readonly RunCommand<"entry">[],
  deliveries: Deliveries,
): Decision<Verdict> {
  if (!isActive(run) || isOfUseBefore(run, commands[0]?.run)) return { verdict: runEnded() };
  const appended = append(
    run,
    commands.map(({ run: { key } }) => key),
  );
  if (appended.kind === "refused") return { verdict: fault("run_refused", appended.text) };
  const { fresh } = appended;
  const left = new Set(fresh.map(partOf));
  // The first command of each key counts.
  const taken = commands.map(({ run: { key } }) => left.delete(partOf(key)));
  const verdict = { run, deduplicated: taken.map((is) => !is) };
  if (fresh.length === 0) return { verdict };
  const now = clock.now();
  const entries = commands.filter((_, i) => taken[i]);
  const bytes = entries.reduce((sum, { body }) => sum + bytesOfEntry(body), run.bytes);
  if (bytes > limits.runHistoryBytesMax) return { verdict: tooLong };
  const hooks = entries.flatMap(({ run: { hook } }) => hook ?? []);
  const next = withHooks({ ...appended.run, bytes }, hooks);
  const joining = entries.map((command) => ({
    key: command.run.key,
    body: command.body,
    delivery: {
      ...deliveryFor(command, notBeforeOfStep(command, now)),
      ...(command.run.fetches && { fetches: true as const }),
    },
  }));
  return { verdict, write: writeOfEntries(next, run.history.length, joining, deliveries, now) };
}

export const tooLong = fault(
  "run_refused",
  `the history of a run may have at most ${limits.runHistoryBytesMax} bytes`,
);

/** Returns a fault when the run would wait for more than it may at once. */
export const refusePending = ({ state }: RunIn<"active">): Fault | undefined =>
  state.pending.length > limits.runPendingMax ? tooMuchPending : undefined;

const tooMuchPending = fault(
  "run_refused",
  `a run may wait for at most ${limits.runPendingMax} calls, events and other runs at once`,
);

/** Reports whether a request that names only the id belongs to the use before, whose delivery is still under way. */
export const isOfUseBefore = (
  run: Run,
  named: { readonly createdAt?: number } | undefined,
): boolean => named?.createdAt === undefined && isHeld(run);
