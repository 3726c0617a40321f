/**
 * Publishes to a URL group. The insert of the fan-out is the commit point; fan-out.ts makes the children from it.
 *
 * A pending key names a child of another publish's fan-out. That publish is under way, has died, or lost its reply.
 * This one takes over under the same id, so that both make the same children, whose ids leave tombstones.
 */
import {
  childId,
  type DeduplicationKey,
  fault,
  type Fault,
  type Group,
  fanOutOf,
  invalidScheme,
  isFault,
  keysOfEndpoints,
  looksLikeHost,
  type MessageId,
  parentOf,
  type PublishCommand,
  refusedUrl,
  type TenantId,
} from "@posthaste/domain";
import { type DeduplicationEntry, type Intake } from "@posthaste/ports";
import { type AcceptPorts, type Published } from "./accept.ts";
import { announceFanOut } from "./announce.ts";
import { type Claimed, claimKeys, confirmKeys, goneMessages } from "./deduplicate.ts";

/** The command of a publish, and the head of its group as read for it. */
export type GroupPublish = {
  readonly command: PublishCommand;
  readonly group: Group;
};

/**
 * The result of a group publish: one message for each endpoint. Endpoints may be many and are not held; readers of
 * their URLs read them again, chunk by chunk.
 */
export type PublishedGroup = {
  readonly group: Group;
  /** The number of messages that an earlier publish made. */
  readonly duplicates: number;
  /** Returns the message of the endpoint at `index`. */
  readonly childAt: (index: number) => Omit<Published, "url">;
};

/** Yields the messages of a group publish in the order of the endpoints, one chunk's at a time. */
export async function* childrenOf(
  { groups }: Pick<AcceptPorts, "groups">,
  { childAt, group }: PublishedGroup,
): AsyncGenerator<readonly Published[], void, undefined> {
  let before = 0;
  for (const chunk of group.chunks) {
    const from = before;
    const endpoints = await groups.endpoints(group.tenant, [chunk]);
    yield endpoints.map(({ url }, i) => ({ ...childAt(from + i), url }));
    before += endpoints.length;
  }
}

type InsertPorts = Omit<AcceptPorts, "tokens" | "messageLog" | "local">;

/** A fan-out, the endpoints that it serves, and their keys. */
type Part = {
  readonly parent: MessageId;
  /** Absent for all endpoints. */
  readonly indices?: readonly number[];
  readonly entries: readonly DeduplicationEntry[];
};

export const findGroup = async (
  { groups }: Pick<AcceptPorts, "groups">,
  tenant: TenantId,
  name: string,
): Promise<Group | Fault> => (await groups.get(tenant, name)) ?? unknownDestination(name);

/** Returns the fault for an unknown group. A name that looks like a host is taken for a URL without its scheme. */
export const unknownDestination = (name: string): Fault =>
  looksLikeHost(name)
    ? refusedUrl(`${invalidScheme}; there is no topic ${name}`)
    : unknownGroup(name);

export const unknownGroup = (name: string): Fault => fault("not_found", `topic ${name} not found`);

export async function publishToEndpoints(
  ports: AcceptPorts,
  publish: GroupPublish,
): Promise<PublishedGroup | Fault> {
  const parent = ports.ids.next();
  if (publish.command.deduplication) return publishOnce(ports, publish, parent);
  await insertFanOut(ports, publish, { parent, entries: [] }, "new");
  return newGroupResult(publish.group, parent);
}

/** Returns the result of a publish whose messages all come from this fan-out, and are new. */
export const newGroupResult = (group: Group, parent: MessageId): PublishedGroup => ({
  group,
  duplicates: 0,
  childAt: (index) => ({ messageId: childId(parent, index), deduplicated: false }),
});

/** Publishes under a given parent id, so that the call may be repeated. Returns the ids of the children. */
export async function insertForGroup(
  ports: InsertPorts,
  publish: GroupPublish,
  parent: MessageId,
): Promise<readonly MessageId[]> {
  await insertFanOut(ports, publish, { parent, entries: [] }, "accepted");
  return Array.from({ length: publish.group.endpointCount }, (_, i) => childId(parent, i));
}

async function publishOnce(
  ports: AcceptPorts,
  publish: GroupPublish,
  own: MessageId,
): Promise<PublishedGroup | Fault> {
  const { command, group } = publish;
  const keysOf = keysOfEndpoints(command, ports.sha256);
  const keys: DeduplicationKey[] = [];
  for (const chunk of group.chunks)
    keys.push(...keysOf(await ports.groups.endpoints(command.tenant, [chunk])));
  const entries = keys.map((key, i) => ({ key, id: childId(own, i) }));
  const claimed = await claimKeys(ports, entries, goneMessages(ports, command.tenant));
  if (isFault(claimed)) return claimed;
  const named = entries.map(({ key }, i) => ({ key, id: idIn(claimed[i], childId(own, i)) }));
  const open = named.filter((_, i) => claimed[i]?.kind !== "duplicate");
  const made = new Set<MessageId>();
  const ids = named.map(({ id }) => id);
  const parts = Map.groupBy(
    named.keys().filter((i) => claimed[i]?.kind !== "duplicate"),
    (i) => parentNamed(ids[i] ?? own),
  );
  if (parts.size > partsMax) return underWay;
  for (const [parent, indices] of parts) {
    const part = { parent, indices, entries: indices.flatMap((i) => named[i] ?? []) };
    const isNew = await insertPart(ports, publish, part, parent === own);
    if (isFault(isNew)) return isNew;
    if (isNew) for (const { id } of part.entries) made.add(id);
  }
  if (open.length > 0) await confirmKeys(ports, open);
  return {
    group,
    duplicates: ids.length - made.size,
    childAt: (index) => {
      const messageId = ids[index] ?? childId(own, index);
      return { messageId, deduplicated: !made.has(messageId) };
    },
  };
}

/** The highest number of fan-outs that one publish writes, each with the body. A growing group has never had more. */
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

/** Inserts one fan-out. Reports whether this publish made it. */
async function insertPart(
  ports: AcceptPorts,
  publish: GroupPublish,
  part: Part & Required<Pick<Part, "indices">>,
  isOwn: boolean,
): Promise<boolean | Fault> {
  const stillFits = part.indices.every((i, n) => part.entries[n]?.id === childId(part.parent, i));
  // The group has changed since, so the indices of a new fan-out would mean other endpoints. If the fan-out exists, it has its
  // children.
  if (!stillFits) return (await standing(ports, publish, part)) ? false : underWay;
  const isNew = await insertFanOut(ports, publish, part, "new");
  if (isNew || !isOwn) return isNew;
  // A repeat took over meanwhile, perhaps with a newer group. The endpoints that it left out are not accepted.
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
  { command, group }: GroupPublish,
  { parent, indices, entries }: Part,
  intake: Intake,
): Promise<boolean> {
  const { chunks, endpointCount, name } = group;
  const served = indices && new Set(indices);
  const skipped = served
    ? Array.from({ length: endpointCount }, (_, i) => i).filter((i) => !served.has(i))
    : [];
  const target = { group: name, chunks, endpointCount, skipped };
  const fanOut = fanOutOf(command, target, parent, ports.clock.now());
  const inserted = await ports.fanOuts.insert(fanOut, intake, entries);
  if (inserted === "inserted") announceFanOut(ports, fanOut);
  return inserted === "inserted";
}
