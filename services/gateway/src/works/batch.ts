/** `POST /v2/batch`: all items are judged before one is stored, each in turn with the work of other requests. */
import {
  type batch,
  type BatchBody,
  type BatchItem,
  type BatchJudges,
  publishResultJson,
} from "@posthaste/contract";
import { fault, type Fault, type Headers, isFault } from "@posthaste/domain";
import { type AcceptPorts, makeQueue, type Outcome, publishMany } from "@posthaste/engine";
import { inTurns } from "@posthaste/http";
import { countAccepted } from "../accepted.ts";
import { type PublishParts } from "./publish.ts";
import { type Works } from "./work.ts";

export type BatchParts = AcceptPorts & Omit<PublishParts, "accept">;

export const batchWorks = (parts: BatchParts): Works<keyof typeof batch> => {
  const { judge, queues, rates, telemetry } = parts;
  return {
    publishBatch: async ({ tenant, callerIp, body }) => {
      const judged = await judgeItems(parts.groups, body, judge(tenant, callerIp));
      if (isFault(judged)) return judged;
      const spending = rates.spendMessages(tenant, () => messagesOf(parts.groups, judged));
      const exceeded = spending && (await spending);
      if (exceeded) return exceeded;
      const outcomes = await publishMany(
        parts,
        judged.map(({ command }) => command),
        (name) => makeQueue({ queues }, tenant.id, name, tenant.plan),
      );
      if (isFault(outcomes)) return outcomes;
      if ("refused" in outcomes) {
        const { refused, index, field } = outcomes;
        return fault(refused.fault, `[${index}].${field}: ${refused.text}`);
      }
      for (const outcome of outcomes)
        if (!isFault(outcome)) countAccepted(telemetry.metrics, outcome);
      return { status: 200, json: outcomes.map(outcomeJson) };
    },
  };
};

/** Once; and where there are groups with default headers once more, with those. */
async function judgeItems(
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
