/** Checks publishes that come together: their kind, and the quota that they need before any of them is stored. */
import { type Fault, fault } from "../shared/fault.ts";
import { type RunId } from "../shared/ids.ts";
import { type PublishCommand } from "./command.ts";
import { type Group } from "./url-group.ts";

/** Refuses all of several publishes, because of `field` of the one at `index`, or because of all of that one. */
export type Refused = {
  readonly refused: Fault;
  readonly index: number;
  readonly field?: "destination" | "queue";
};

export type PublishKind = "messages" | "starts" | "steps";

/**
 * Returns the kind of publishes that come together. All must be of one kind, since a step that its run refuses
 * refuses them all, and then nothing else may have been published. If one is a step the refusal is not `malformed`,
 * which the endpoint takes for the end of its run.
 */
export function kindOfAll(commands: readonly PublishCommand[]): PublishKind | Refused {
  const [first] = commands;
  const kind = first ? kindOf(first) : "messages";
  const index = commands.findIndex(
    (command) => kindOf(command) !== kind || (kind === "steps" && runOf(command) !== runOf(first)),
  );
  if (index < 0) return kind;
  const hasStep = commands.some(isPartOfRun);
  const refused = fault(
    hasStep ? "run_refused" : "malformed",
    "a batch holds messages, or starts of runs, or steps of one run: [0] is of another kind, or another run",
  );
  return { refused, index };
}

const kindOf = (command: PublishCommand): PublishKind =>
  isPartOfRun(command) ? "steps" : command.run ? "starts" : "messages";

/**
 * Reports whether a publish belongs to an existing run: any except a start, and also the start by which an endpoint
 * answers a first phase.
 */
const isPartOfRun = ({ run }: PublishCommand): boolean =>
  run !== undefined && (run.kind !== "start" || run.phase === "adopts");

function runOf(command: PublishCommand | undefined): RunId | undefined {
  const run = command?.run;
  return run?.kind === "invoke" ? runOf(run.answer) : run?.id;
}

/** The quota that publishes need: messages of the plan, and queues that are made if they are missing. */
export type QuotaNeed = { readonly messages: number; readonly queues: readonly string[] };

/** Returns the quota that messages and starts need; `groups` has the groups that they name. */
export function quotaNeeded(
  commands: readonly PublishCommand[],
  groups: ReadonlyMap<string, Pick<Group, "endpointCount">>,
): QuotaNeed {
  let messages = 0;
  const queues = new Set<string>();
  for (const { destination, queue } of commands) {
    messages += destination.kind === "url" ? 1 : (groups.get(destination.name)?.endpointCount ?? 0);
    if (queue !== undefined) queues.add(queue);
  }
  return { messages, queues: [...queues] };
}
