/** Publishes for runs, whichever endpoint of the API takes the commands: steps, calls, invocations, and starts. */
import { type Fault, isFault, type PublishCommand, type RunId } from "@posthaste/domain";
import { type Published } from "../publish/accept.ts";
import { appendSteps, isEntry } from "./append.ts";
import { isCall, placeCall } from "./call.ts";
import { invoke, isInvoke } from "./invoke.ts";
import { type RunPorts, startRun } from "./start.ts";

/** Reports whether a publish belongs to an existing run: any but a start, and the start by which an endpoint answers a first phase. */
export const isPartOfRun = ({ run }: PublishCommand): boolean =>
  run !== undefined && (run.kind !== "start" || run.phase === "adopts");

/** Publishes for runs, in order. Successive steps of one run join it together. */
export async function publishForRuns(
  ports: RunPorts,
  commands: readonly PublishCommand[],
): Promise<readonly Published[] | Fault> {
  const published: Published[] = [];
  for (const some of alike(commands)) {
    const done = await publishAlike(ports, some);
    if (isFault(done)) return done;
    published.push(...done);
  }
  return published;
}

async function publishAlike(
  ports: RunPorts,
  some: readonly PublishCommand[],
): Promise<readonly Published[] | Fault> {
  const steps = some.filter(isEntry);
  const [only] = some;
  if (!only || steps.length > 0) return appendSteps(ports, steps);
  if (!isCall(only) && !isInvoke(only)) return startRuns(some, (start) => startRun(ports, start));
  const done = await (isCall(only) ? placeCall(ports, only) : invoke(ports, only));
  return isFault(done) ? done : [done];
}

/** The number of runs started side by side; their writes share syncs. */
const startedAtOnce = 64;

/**
 * Starts runs in order; of two starts of one id the first begins the run. A fault is the answer to all starts. Runs started
 * before it stay started, as after a lost answer.
 */
export async function startRuns<T>(
  starts: readonly PublishCommand[],
  start: (command: PublishCommand) => Promise<T | Fault>,
): Promise<readonly T[] | Fault> {
  const started: T[] = [];
  for (const wave of waves(starts))
    for (const each of await Promise.all(wave.map(start))) {
      if (isFault(each)) return each;
      started.push(each);
    }
  return started;
}

/** Splits starts into waves, each with an id at most once. */
function waves(starts: readonly PublishCommand[]): readonly (readonly PublishCommand[])[] {
  const all: PublishCommand[][] = [];
  const ids = new Set<RunId | undefined>();
  for (const start of starts) {
    const last = all.at(-1);
    const id = start.run?.kind === "start" ? start.run.id : undefined;
    if (last && last.length < startedAtOnce && !ids.has(id)) last.push(start);
    else {
      all.push([start]);
      ids.clear();
    }
    ids.add(id);
  }
  return all;
}

/** Groups successive steps of one run, and successive starts. */
function alike(commands: readonly PublishCommand[]): readonly (readonly PublishCommand[])[] {
  const parts: PublishCommand[][] = [];
  for (const command of commands) {
    const before = parts.at(-1)?.[0];
    const joins = before && (isOfSameRun(before, command) || (isStart(before) && isStart(command)));
    if (joins) parts.at(-1)?.push(command);
    else parts.push([command]);
  }
  return parts;
}

const isStart = ({ run }: PublishCommand): boolean => run?.kind === "start";

const isOfSameRun = (one: PublishCommand, other: PublishCommand): boolean =>
  isEntry(one) &&
  isEntry(other) &&
  one.run.id === other.run.id &&
  one.run.createdAt === other.run.createdAt;
