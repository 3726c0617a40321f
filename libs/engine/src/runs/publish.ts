/** Publishes for runs: steps, calls, invocations, and starts. */
import { type Fault, isFault, type PublishCommand, type RunId } from "@posthaste/domain";
import { type Published } from "../publish/accept.ts";
import { appendSteps } from "./append.ts";
import { placeCall } from "./call.ts";
import { isRunCommand } from "./commands.ts";
import { invoke } from "./invoke.ts";
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
  const steps = some.filter((command) => isRunCommand(command, "entry"));
  const [only] = some;
  if (!only || steps.length > 0) return appendSteps(ports, steps);
  const done = await publishOne(ports, only);
  return isFault(done) ? done : [done];
}

function publishOne(ports: RunPorts, command: PublishCommand): Promise<Published | Fault> {
  if (isRunCommand(command, "call")) return placeCall(ports, command);
  if (isRunCommand(command, "invoke")) return invoke(ports, command);
  return start(ports, command);
}

function start(ports: RunPorts, command: PublishCommand): Promise<Published | Fault> {
  if (!isRunCommand(command, "start")) throw new Error("not the start of a run");
  return startRun(ports, command);
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
    for (const each of await Promise.all(wave.map((each) => start(ports, each)))) {
      if (isFault(each)) return each;
      started.push(each);
    }
  return started;
}

/** Splits starts into waves, each with an id at most once. */
function waves(starts: readonly PublishCommand[]): readonly (readonly PublishCommand[])[] {
  const all: PublishCommand[][] = [];
  const ids = new Set<RunId | undefined>();
  for (const each of starts) {
    const last = all.at(-1);
    const id = each.run?.kind === "start" ? each.run.id : undefined;
    if (last && last.length < startedAtOnce && !ids.has(id)) last.push(each);
    else {
      all.push([each]);
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
  isRunCommand(one, "entry") &&
  isRunCommand(other, "entry") &&
  one.run.id === other.run.id &&
  one.run.createdAt === other.run.createdAt;
