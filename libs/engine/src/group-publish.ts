/**
 * Publishing to a URL group: the fan-out is the commit point, the children come from it (fan-out.ts).
 *
 * A key that is pending names a child of another publish's fan-out. That publish is under way, has died, or lost its
 * reply: this one takes over under the same id, so that both make the same children, whose ids leave tombstones.
 */
import {
  childId,
  deduplicationKeys,
  type Endpoint,
  fault,
  type Fault,
  type Group,
  fanOutOf,
  isFault,
  type MessageId,
  parentOf,
  type PublishCommand,
  type TenantId,
} from "@posthaste/domain";
import { type DeduplicationEntry } from "@posthaste/ports";
import { type AcceptPorts, type Published } from "./accept.ts";
import { announceFanOut } from "./announce.ts";
import { type Claimed, claimKeys, confirmKeys } from "./deduplicate.ts";

/** What is published: the command, and the group as it is now. */
export type GroupPublish = {
  readonly command: PublishCommand;
  readonly group: Group;
  readonly endpoints: readonly Endpoint[];
};

/** What an insert needs of them. */
type InsertPorts = Omit<AcceptPorts, "tokens" | "local">;

/** A fan-out, which of the endpoints it serves, and their keys. */
type Part = {
  readonly parent: MessageId;
  readonly indices: readonly number[];
  readonly entries: readonly DeduplicationEntry[];
};

export async function publishToGroup(
  ports: AcceptPorts,
  command: PublishCommand,
  name: string,
  head?: Group,
): Promise<readonly Published[] | Fault> {
  const found = await findGroup(ports, command.tenant, name, head);
  return isFault(found) ? found : publishToEndpoints(ports, { command, ...found });
}

/** With its endpoints, which may be many. */
export async function findGroup(
  { groups }: Pick<AcceptPorts, "groups">,
  tenant: TenantId,
  name: string,
  head?: Group,
): Promise<Omit<GroupPublish, "command"> | Fault> {
  const group = head ?? (await groups.get(tenant, name));
  if (!group) return unknownGroup(name);
  return { group, endpoints: await groups.endpoints(tenant, group.chunks) };
}

export const unknownGroup = (name: string): Fault => fault("not_found", `topic ${name} not found`);

export async function publishToEndpoints(
  ports: AcceptPorts,
  publish: GroupPublish,
): Promise<readonly Published[] | Fault> {
  const { command, endpoints } = publish;
  const parent = ports.ids.next();
  const keys = deduplicationKeys(command, endpoints, ports.sha256);
  if (keys.length > 0) return publishOnce(ports, publish, keys, parent);
  await insertFanOut(ports, publish, { parent, indices: [...endpoints.keys()], entries: [] });
  return endpoints.map(({ url }, i) => answer(childId(parent, i), url, false));
}

/** Under a parent whose id is given, so that it may be asked for twice. Returns the ids of the children. */
export async function insertForGroup(
  ports: InsertPorts,
  publish: GroupPublish,
  parent: MessageId,
): Promise<readonly MessageId[]> {
  const indices = [...publish.endpoints.keys()];
  await insertFanOut(ports, publish, { parent, indices, entries: [] });
  return indices.map((i) => childId(parent, i));
}

async function publishOnce(
  ports: AcceptPorts,
  publish: GroupPublish,
  keys: readonly DeduplicationEntry["key"][],
  own: MessageId,
): Promise<readonly Published[] | Fault> {
  const entries = keys.map((key, i) => ({ key, id: childId(own, i) }));
  const claimed = await claimKeys(ports, entries);
  if (isFault(claimed)) return claimed;
  const named = entries.map(({ key }, i) => ({ key, id: idIn(claimed[i], childId(own, i)) }));
  const open = named.filter((_, i) => claimed[i]?.kind !== "duplicate");
  const made = new Set<MessageId>();
  const parts = Map.groupBy(
    named.keys().filter((i) => claimed[i]?.kind !== "duplicate"),
    (i) => parentNamed(named[i]?.id ?? own),
  );
  if (parts.size > partsMax) return underWay;
  for (const [parent, indices] of parts) {
    const part = { parent, indices, entries: indices.flatMap((i) => named[i] ?? []) };
    const isNew = await insertPart(ports, publish, part, parent === own);
    if (isFault(isNew)) return isNew;
    if (isNew) for (const { id } of part.entries) made.add(id);
  }
  if (open.length > 0) await confirmKeys(ports, open);
  return publish.endpoints.flatMap(({ url }, i) => {
    const id = named[i]?.id;
    return id === undefined ? [] : answer(id, url, !made.has(id));
  });
}

/** Each writes the body; more of them than this have never come of a group that grows. */
const partsMax = 16;

const underWay = fault(
  "outcome_unknown",
  "another publish with this deduplication id is under way; repeat with the same one",
);

const idIn = (claimed: Claimed | undefined, own: MessageId): MessageId =>
  claimed === undefined || claimed.kind === "mine" ? own : claimed.id;

function parentNamed(id: MessageId): MessageId {
  const named = parentOf(id);
  if (!named) throw new Error(`the deduplication key of a group names ${id}, which is no child`);
  return named.parent;
}

/** Answers whether this publish has made the fan-out. */
async function insertPart(
  ports: AcceptPorts,
  publish: GroupPublish,
  part: Part,
  isOwn: boolean,
): Promise<boolean | Fault> {
  const stillFits = part.indices.every((i, n) => part.entries[n]?.id === childId(part.parent, i));
  // The group has changed since: its fan-out would mean other endpoints by the same indices. If it is there, it has its children.
  if (!stillFits) return (await standing(ports, publish, part)) ? false : underWay;
  const isNew = await insertFanOut(ports, publish, part);
  if (isNew || !isOwn) return isNew;
  // A repetition took over meanwhile, perhaps with the group as it is since. What it has left out is not accepted.
  const fanOut = await standing(ports, publish, part);
  const hasAll =
    fanOut?.chunks.join() === publish.group.chunks.join() &&
    part.indices.every((i) => !fanOut.skipped.includes(i));
  return hasAll ? false : underWay;
}

async function standing({ fanOuts }: AcceptPorts, { command }: GroupPublish, { parent }: Part) {
  const [fanOut] = await fanOuts.get(command.tenant, [parent]);
  return fanOut;
}

export async function insertFanOut(
  ports: InsertPorts,
  { command, group, endpoints }: GroupPublish,
  { parent, indices, entries }: Part,
): Promise<boolean> {
  const served = new Set(indices);
  const skipped = [...endpoints.keys()].filter((i) => !served.has(i));
  const target = {
    group: group.name,
    chunks: group.chunks,
    endpointCount: endpoints.length,
    skipped,
  };
  const fanOut = fanOutOf(command, target, parent, ports.clock.now());
  const inserted = await ports.fanOuts.insert(fanOut, entries);
  if (inserted === "inserted") announceFanOut(ports, fanOut);
  return inserted === "inserted";
}

const answer = (messageId: MessageId, url: string, deduplicated: boolean): Published => ({
  messageId,
  url,
  deduplicated,
});
