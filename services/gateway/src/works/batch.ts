/** `POST /v2/batch`: judges all items before it stores one, in turns with other requests. */
import { type batch, type BatchBody, type BatchItem, type BatchJudges } from "@posthaste/contract";
import {
  fault,
  type Fault,
  type Headers,
  isFault,
  type PublishCommand,
  type RunId,
} from "@posthaste/domain";
import {
  type AcceptPorts,
  isPartOfRun,
  type Published,
  publishForRuns,
  publishMany,
  type RunPorts,
} from "@posthaste/engine";
import { type Admission, inTurns } from "@posthaste/http";
import { countAccepted } from "../accepted.ts";
import { batchResultTexts } from "../published-texts.ts";
import { inTrace, traceSteps } from "../trace.ts";
import { type BacklogQuota } from "../backlog.ts";
import { takeRoom } from "../room.ts";
import { type PublishParts } from "./publish.ts";
import { type Works } from "./work.ts";

export type BatchParts = RunPorts &
  Omit<PublishParts, "accept"> & {
    readonly admission: Admission;
    readonly backlog: BacklogQuota;
  };

export const batchWorks = (parts: BatchParts): Works<keyof typeof batch> => {
  const { admission, backlog, judge, telemetry } = parts;
  return {
    publishBatch: async ({ tenant, callerIp, body }) => {
      const judged = await judgeItems(parts.groups, body, judge(tenant, callerIp));
      if (isFault(judged)) return judged;
      const commands = judged.map(({ command }) => inTrace(telemetry.tracer, command));
      const kind = kindOfAll(commands);
      if (isFault(kind)) return kind;
      if (kind !== "steps") {
        const refused = admission.refuse("publish") ?? backlog.refuse(tenant);
        if (refused) return refused;
      }
      if (kind === "starts") {
        const noRoom = await takeRoom(parts, tenant, { messages: commands.length, queues: [] });
        if (noRoom) return noRoom.refused;
      }
      const outcomes =
        kind === "messages"
          ? await publishMany(parts, commands, async (asked) => takeRoom(parts, tenant, asked))
          : await publishForRuns(parts, commands);
      if (isFault(outcomes)) return outcomes;
      if ("refused" in outcomes) {
        const { refused, index, field } = outcomes;
        return fault(refused.fault, `[${index}].${field}: ${refused.text}`);
      }
      const { tracer } = telemetry;
      if (tracer.isOn && kind === "steps")
        traceSteps(
          tracer,
          commands,
          outcomes.filter((each): each is Published => "messageId" in each),
          { parent: tracer.current(), begunMsAgo: 0 },
        );
      for (const outcome of outcomes)
        if (!isFault(outcome)) countAccepted(telemetry.metrics, outcome);
      return {
        status: 200,
        read: async (seat) => ({ pieces: batchResultTexts(parts.reads(seat), outcomes) }),
      };
    },
  };
};

type Kind = "messages" | "starts" | "steps";

/**
 * Returns the kind of a batch; all items must be of one kind, since a step that its run refuses refuses the batch, and then
 * nothing else may have been published. A mixed batch that holds a step is not refused with 400, which the endpoint takes for the
 * end of its run.
 */
function kindOfAll(commands: readonly PublishCommand[]): Kind | Fault {
  const [first] = commands;
  const kind = first ? kindOf(first) : "messages";
  const index = commands.findIndex(
    (command) => kindOf(command) !== kind || (kind === "steps" && runOf(command) !== runOf(first)),
  );
  if (index < 0) return kind;
  const hasStep = commands.some((command) => kindOf(command) === "steps");
  return fault(
    hasStep ? "run_refused" : "malformed",
    `[${index}]: a batch holds messages, or starts of runs, or steps of one run: [0] is of another kind, or another run`,
  );
}

const kindOf = (command: PublishCommand): Kind =>
  isPartOfRun(command) ? "steps" : command.run ? "starts" : "messages";

/** Returns the run to which a step belongs. */
function runOf(command: PublishCommand | undefined): RunId | undefined {
  const run = command?.run;
  return run?.kind === "invoke" ? runOf(run.answer) : run?.id;
}

/** Judges the items once, and once more with the default headers of groups, if there are any. */
export async function judgeItems(
  groups: AcceptPorts["groups"],
  body: BatchBody,
  judges: BatchJudges,
): Promise<readonly BatchItem[] | Fault> {
  const inTurn = (each: BatchJudges) => inTurns(body.judge(each), weightOf);
  let hasGroups = false;
  const judged = await inTurn({
    ...judges,
    defaultsOf: () => {
      hasGroups = true;
      return undefined;
    },
  });
  if (!hasGroups) return judged;
  const destinations = await inTurns(body.destinations(), weightOf);
  if (isFault(destinations)) return destinations;
  const names = destinations.flatMap(({ destination }) =>
    destination.kind === "group" ? [destination.name] : [],
  );
  const defaults = new Map<string, Headers>();
  for (const name of new Set(names)) {
    const group = await groups.get(judges.tenant, name);
    if (group?.headers) defaults.set(name, group.headers);
  }
  if (defaults.size === 0) return judged;
  return inTurn({ ...judges, defaultsOf: (name) => defaults.get(name) });
}

/** Parsing so many bytes takes as long as judging an item. */
const bytesLikeAnItem = 5_000;
const weightOf = ({ bytes }: { readonly bytes: number }): number => 1 + bytes / bytesLikeAnItem;
