/**
 * Accepts all that callers publish: messages, fan-outs, and commands that start runs or belong to one.
 *
 * (1) The kind is determined, then every group is found, then quota is spent for all, and only then is anything stored.
 * (2) Commands of an existing run spend no quota: a step that has run would run again.
 * (3) A message to a URL is inserted before `publish` returns, unless it waits for the quota or for its deduplication key.
 */
import {
  fault,
  type Fault,
  type Group,
  isFault,
  kindOfAll,
  type PublishCommand,
  type Refused,
  type QuotaNeed,
  quotaNeeded,
} from "@posthaste/domain";
import { type QuotaRefusal } from "../lanes/queues.ts";
import { publishSteps, startRuns } from "../runs/publish.ts";
import { type RunPorts } from "../runs/start.ts";
import { type AcceptPorts, type Published, publishToUrl } from "./accept.ts";
import { findGroup, type PublishedGroup } from "./group-publish.ts";
import { publishInPortions } from "./portions.ts";
import { type PublishOutcome } from "./publish-portion.ts";

/** Spends quota for messages and queues, all or nothing. Returns undefined if there is enough, and that is known at once. */
export type SpendQuota = (need: QuotaNeed) => Promise<QuotaRefusal | undefined> | undefined;

const unlimited: SpendQuota = () => undefined;

/** Publishes a command. `head`: its group, if the caller has read it. Rejects when the store does; the outcome is then unknown. */
export function publish(
  ports: RunPorts,
  command: PublishCommand,
  spendQuota = unlimited,
  head?: Group,
): Promise<Published | PublishedGroup | Fault> {
  const { destination, queue, run } = command;
  if (run || destination.kind === "group") return publishAlone(ports, command, spendQuota, head);
  const { url } = destination;
  const taking = spendQuota({ messages: 1, queues: queue === undefined ? [] : [queue] });
  if (!taking) return publishToUrl(ports, command, url);
  return taking.then((refusal) => refusal?.refused ?? publishToUrl(ports, command, url));
}

async function publishAlone(
  ports: RunPorts,
  command: PublishCommand,
  spendQuota: SpendQuota,
  head: Group | undefined,
): Promise<Published | PublishedGroup | Fault> {
  const known = new Map(head && [[head.name, head]]);
  const outcomes = await publishMany(ports, [command], spendQuota, known);
  if ("refused" in outcomes) return outcomes.refused;
  if (isFault(outcomes)) return outcomes;
  return outcomes[0] ?? fault("internal", "no answer for a publish");
}

/**
 * Publishes commands of one kind. Messages are stored in portions: `publishInPortions` says what a returned fault concerns.
 * `known`: groups that the caller has read.
 */
export async function publishMany(
  ports: RunPorts,
  commands: readonly PublishCommand[],
  spendQuota = unlimited,
  known: ReadonlyMap<string, Group> = new Map(),
): Promise<readonly PublishOutcome[] | Refused | Fault> {
  const kind = kindOfAll(commands);
  if (typeof kind === "object") return kind;
  if (kind === "steps") return publishSteps(ports, commands);
  const groups = await enter(ports, commands, spendQuota, known);
  if (isFault(groups) || "refused" in groups) return groups;
  return kind === "starts"
    ? startRuns(ports, commands)
    : publishInPortions(ports, commands, groups);
}

/** Finds the groups of the commands and spends their quota. Returns the groups. */
export async function enter(
  { groups }: Pick<AcceptPorts, "groups">,
  commands: readonly PublishCommand[],
  spendQuota: SpendQuota,
  known: ReadonlyMap<string, Group> = new Map(),
): Promise<ReadonlyMap<string, Group> | Refused | Fault> {
  const found = await findGroups(groups, commands, known);
  if ("refused" in found) return found;
  const refusal = await spendQuota(quotaNeeded(commands, found));
  return refusal ? refusedFor(commands, refusal) : found;
}

/** The highest number of messages that the groups of one batch make; each has its place in the answer. */
const childrenMax = 100_000;

async function findGroups(
  groups: AcceptPorts["groups"],
  commands: readonly PublishCommand[],
  known: ReadonlyMap<string, Group>,
): Promise<Map<string, Group> | Refused> {
  const found = new Map(known);
  let children = 0;
  for (const [index, { tenant, destination }] of commands.entries()) {
    if (destination.kind !== "group") continue;
    const { name } = destination;
    const group = found.get(name) ?? (await findGroup({ groups }, tenant, name));
    if (isFault(group)) return { refused: group, index, field: "destination" };
    found.set(name, group);
    children += group.endpointCount;
    if (children > childrenMax) return { refused: tooManyChildren, index, field: "destination" };
  }
  return found;
}

const refusedFor = (
  commands: readonly PublishCommand[],
  { refused, queue }: QuotaRefusal,
): Refused | Fault =>
  queue === undefined
    ? refused
    : { refused, index: commands.findIndex((command) => command.queue === queue), field: "queue" };

const tooManyChildren = fault(
  "beyond_plan",
  `the groups of one batch may have at most ${childrenMax} endpoints together`,
);
