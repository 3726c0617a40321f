/** Publishes for runs: steps, calls, invocations, and starts. */
import {
  type Fault,
  isFault,
  type PublishCommand,
  type RunCommand,
  type RunId,
} from "@posthaste/domain";
import { type Published } from "../publish/accept.ts";
import { appendSteps } from "./append.ts";
import { placeCall } from "./call.ts";
import { isRunCommand } from "./deliveries.ts";
import { invoke } from "./invoke.ts";
import { type RunPorts, startRun } from "./start.ts";

/** Publishes what belongs to existing runs, in order. Successive steps of one run join it together. */
export async function publishSteps(
  ports: RunPorts,
  commands: readonly PublishCommand[],
): Promise<readonly Published[] | Fault> {
  const published: Published[] = [];
  for (let command = commands[0]; command; command = commands[published.length]) {
    const steps = stepsFrom(commands, published.length);
    const done = await (steps.length > 0 ? appendSteps(ports, steps) : publishOne(ports, command));
    if (isFault(done)) return done;
    published.push(...[done].flat());
  }
  return published;
}

/** Returns the steps of one run that follow one another from `from` on. */
function stepsFrom(
  commands: readonly PublishCommand[],
  from: number,
): readonly RunCommand<"entry">[] {
  const steps: RunCommand<"entry">[] = [];
  for (let command = commands[from]; command; command = commands[from + steps.length]) {
    if (!isRunCommand(command, "entry")) break;
    const { createdAt, id } = (steps[0] ?? command).run;
    if (command.run.id !== id || command.run.createdAt !== createdAt) break;
    steps.push(command);
  }
  return steps;
}

function publishOne(ports: RunPorts, command: PublishCommand): Promise<Published | Fault> {
  if (isRunCommand(command, "call")) return placeCall(ports, command);
  if (isRunCommand(command, "invoke")) return invoke(ports, command);
  if (isRunCommand(command, "start")) return startRun(ports, command);
  throw new Error("not a part of a run");
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
    for (const each of await Promise.all(wave.map((each) => publishOne(ports, each)))) {
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
