/** `POST /v2/batch`: all items are judged before one is stored, each in turn with the work of other requests. */
import {
  type batch,
  type BatchBody,
  type BatchItem,
  type BatchJudges,
  publishResultJson,
} from "@posthaste/contract";
import { fault, type Fault, type Headers, isFault, type PublishCommand } from "@posthaste/domain";
import {
  type AcceptPorts,
  makeQueue,
  type Outcome,
  publishMany,
  type RunPorts,
} from "@posthaste/engine";
import { inTurns } from "@posthaste/http";
import { countAccepted } from "../accepted.ts";
import { inTrace } from "../trace.ts";
import { type BacklogQuota } from "../backlog.ts";
import { closed, type PublishParts } from "./publish.ts";
import { isPartOfRun, publishForRuns } from "./runs.ts";
import { type Works } from "./work.ts";

export type BatchParts = RunPorts &
  Omit<PublishParts, "accept"> & { readonly backlog: BacklogQuota };

export const batchWorks = (parts: BatchParts): Works<keyof typeof batch> => {
  const { backlog, isClosed, judge, queues, rates, telemetry } = parts;
  return {
    publishBatch: async ({ tenant, callerIp, body }) => {
      const judged = await judgeItems(parts.groups, body, judge(tenant, callerIp));
      if (isFault(judged)) return judged;
      const commands = judged.map(({ command }) => inTrace(telemetry.tracer, command));
      const fresh = judged.filter(({ command }) => !isPartOfRun(command));
      if (fresh.length > 0) {
        const refused = isClosed() ? closed : backlog.refuse(tenant);
        if (refused) return refused;
        const spending = rates.spendMessages(tenant, () => messagesOf(parts.groups, fresh));
        const exceeded = spending && (await spending);
        if (exceeded) return exceeded;
      }
      // Those for runs first: of a run that has ended the batch is refused, and then nothing else was published.
      const forRuns = commands.filter(({ run }) => run);
      const inRuns = forRuns.length > 0 ? await publishForRuns(parts, forRuns) : [];
      if (isFault(inRuns)) return inRuns;
      const rest = forRuns.length > 0 ? commands.filter(({ run }) => !run) : commands;
      const published =
        rest.length > 0 || forRuns.length === 0
          ? await publishMany(parts, rest, (name) =>
              makeQueue({ queues }, tenant.id, name, tenant.plan),
            )
          : [];
      if (isFault(published)) return published;
      if ("refused" in published) {
        const { refused, index, field } = published;
        const place = commands.findIndex((command) => command === rest[index]);
        return fault(refused.fault, `[${place}].${field}: ${refused.text}`);
      }
      const outcomes = forRuns.length > 0 ? inOrder(commands, inRuns, published) : published;
      for (const outcome of outcomes)
        if (!isFault(outcome)) countAccepted(telemetry.metrics, outcome);
      return { status: 200, json: outcomes.map(outcomeJson) };
    },
  };
};

/** What became of each command: of those for runs, and of the rest. */
function inOrder(
  commands: readonly PublishCommand[],
  inRuns: readonly Outcome[],
  published: readonly Outcome[],
): readonly Outcome[] {
  const [ofRuns, ofRest] = [inRuns.values(), published.values()];
  return commands.map(({ run }) => (run ? ofRuns : ofRest).next().value ?? []);
}

/** Once; and where there are groups with default headers once more, with those. */
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

/** One for each URL, and for each endpoint of a group. */
async function messagesOf(
  groups: AcceptPorts["groups"],
  items: readonly BatchItem[],
): Promise<number> {
  let count = 0;
  const endpoints = new Map<string, number>();
  for (const { command } of items) {
    const { destination, tenant } = command;
    if (destination.kind === "url") {
      count += 1;
      continue;
    }
    const { name } = destination;
    const known = endpoints.get(name) ?? (await groups.get(tenant, name))?.endpointCount ?? 0;
    endpoints.set(name, known);
    count += known;
  }
  return count;
}

/** To parse so many bytes takes as long as to judge an item. */
const bytesLikeAnItem = 5_000;
const weightOf = ({ bytes }: { readonly bytes: number }): number => 1 + bytes / bytesLikeAnItem;

const outcomeJson = (outcome: Outcome) => {
  if (isFault(outcome)) return { error: outcome.text };
  return "messageId" in outcome ? publishResultJson(outcome) : outcome.map(publishResultJson);
};
