/** Publishes for runs: steps, calls, invocations, and starts. */
import { type Fault, isFault, type PublishCommand, type RunId } from "@posthaste/domain";
import { type Published } from "../publish/accept.ts";
import { appendSteps, isEntry } from "./append.ts";
import { isCall, placeCall } from "./call.ts";
import { invoke, isInvoke } from "./invoke.ts";
import { type RunPorts, startRun } from "./start.ts";

/** Publishes what belongs to existing runs, in order. Successive steps of one run join it together. */
export async function publishSteps(
  ports: RunPorts,
  commands: readonly PublishCommand[],
): Promise<readonly Published[] | Fault> {
  const published: Published[] = [];
  for (const some of inGroups(commands)) {
    const done = await publishGroup(ports, some);
    if (isFault(done)) return done;
    published.push(...done);
  }
  return published;
}

async function publishGroup(
  ports: RunPorts,
  some: readonly PublishCommand[],
): Promise<readonly Published[] | Fault> {
  const steps = some.filter(isEntry);
  const [only] = some;
  if (!only || steps.length > 0) return appendSteps(ports, steps);
  const done = await (isCall(only)
    ? placeCall(ports, only)
    : isInvoke(only)
      ? invoke(ports, only)
      : startRun(ports, only));
  return isFault(done) ? done : [done];
}

/** The number of runs started at the same time; their writes share syncs. */
const startedAtOnce = 64;

/**
 * Starts runs in order; of two starts of one id the first begins the run. A fault is the answer to all starts. Runs
 * started before it stay started, as after a lost answer.
 */
export async function startRuns(
  ports: RunPorts,
  starts: readonly PublishCommand[],
): Promise<readonly Published[] | Fault> {
  const started: Published[] = [];
  for (const wave of waves(starts))
    for (const each of await Promise.all(wave.map((start) => startRun(ports, start)))) {
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

/** Groups successive steps of one run. */
function inGroups(commands: readonly PublishCommand[]): readonly (readonly PublishCommand[])[] {
  const parts: PublishCommand[][] = [];
  for (const command of commands) {
    const last = parts.at(-1);
    const [before] = last ?? [];
    if (before && isOfSameRun(before, command)) last?.push(command);
    else parts.push([command]);
  }
  return parts;
}

const isOfSameRun = (one: PublishCommand, other: PublishCommand): boolean =>
  isEntry(one) &&
  isEntry(other) &&
  one.run.id === other.run.id &&
  one.run.createdAt === other.run.createdAt;
