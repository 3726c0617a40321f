/** Publishing to a URL group: the parent record is the commit point, the children come from it (reliability.md P2). */
import {
  accept,
  childId,
  childMessage,
  deduplicationKeys,
  type Endpoint,
  expand,
  fault,
  type Fault,
  type Group,
  type InState,
  isFault,
  isIn,
  type MessageId,
  type MessageRecord,
  parentMessage,
  parentOf,
  type PublishCommand,
  type Sha256Hex,
  type TenantId,
} from "@posthaste/domain";
import {
  type Clock,
  type DeduplicationEntry,
  type EventBus,
  type Groups,
  type MessageStore,
} from "@posthaste/ports";
import { type AcceptPorts, type Published } from "./accept.ts";
import { announce, announceUnheard } from "./announce.ts";
import { claimKeys } from "./deduplicate.ts";

export async function publishToGroup(
  ports: AcceptPorts,
  command: PublishCommand,
  name: string,
): Promise<readonly Published[] | Fault> {
  const group = await ports.groups.get(command.tenant, name);
  if (!group) return fault("not_found", `topic ${name} not found`);
  const endpoints = await ports.groups.endpoints(command.tenant, group.chunks);
  const parent = ports.ids.next();
  const answers = await answersOf(ports, command, endpoints, parent);
  if (isFault(answers)) return answers;
  const { published, entries } = answers;
  if (published.every(({ deduplicated }) => deduplicated)) return published;
  await insertParent(ports, command, group, parent, answers);
  if (entries.length > 0) await ports.tokens.confirm(entries);
  return published;
}

type Answers = {
  readonly published: readonly Published[];
  readonly entries: readonly DeduplicationEntry[];
};

/**
 * The children's ids are known before they exist. A key that stays pending names a child of a parent that may never be
 * inserted, and only its own publish knows that parent: such a publish has to be repeated, and is answered when the key
 * is confirmed or has run out.
 */
async function answersOf(
  ports: AcceptPorts,
  command: PublishCommand,
  endpoints: readonly Endpoint[],
  parent: MessageId,
): Promise<Answers | Fault> {
  const keys = deduplicationKeys(command, endpoints, ports.sha256);
  const ids = endpoints.map((_, index) => childId(parent, index));
  if (keys.length === 0) {
    return { published: endpoints.map(({ url }, i) => answer(ids[i], url, false)), entries: [] };
  }
  const asked = keys.flatMap((key, i) => entryOf(key, ids[i]));
  const claimed = await claimKeys(ports, asked);
  if (isFault(claimed)) return claimed;
  if (claimed.some((verdict) => verdict.kind === "insert" && verdict.takenOver)) {
    return fault(
      "outcome_unknown",
      "another publish with this deduplication id is under way; repeat with the same one",
    );
  }
  const published = endpoints.map(({ url }, i) =>
    answer(claimed[i]?.id, url, claimed[i]?.kind === "duplicate"),
  );
  return { published, entries: asked.filter((_, i) => published[i]?.deduplicated === false) };
}

const entryOf = (
  key: DeduplicationEntry["key"],
  id: MessageId | undefined,
): DeduplicationEntry[] => (id === undefined ? [] : [{ key, id }]);

function answer(id: MessageId | undefined, url: string, deduplicated: boolean): Published {
  if (id === undefined) throw new Error("a group publish has an endpoint without an id");
  return { messageId: id, url, deduplicated };
}

async function insertParent(
  ports: AcceptPorts,
  command: PublishCommand,
  group: Group,
  parent: MessageId,
  { published, entries }: Answers,
): Promise<void> {
  const now = ports.clock.now();
  const skipped = published.flatMap(({ deduplicated }, i) => (deduplicated ? [i] : []));
  const fanOut = {
    group: group.name,
    chunks: group.chunks,
    endpointCount: published.length,
    skipped,
  };
  const record = accept(parentMessage(command, fanOut, parent, now), now);
  await ports.messages.insert([
    entries.length > 0 ? { record, deduplication: entries } : { record },
  ]);
  announceUnheard(ports, [record]);
}

export type ExpandPorts = {
  readonly messages: MessageStore;
  readonly groups: Groups;
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly sha256: Sha256Hex;
};

/** Makes the children that are still missing. Stops when someone else expands the same parent: ids are derived, no harm is done. */
export async function expandParent(
  ports: ExpandPorts,
  parent: InState<"expanding">,
): Promise<void> {
  const { message } = parent;
  const endpoints = await ports.groups.endpoints(message.tenant, message.fanOut?.chunks ?? []);
  let upTo = parent.state.upTo;
  for (;;) {
    const batch = expand({ ...parent, state: { kind: "expanding", upTo } }, endpoints);
    const children = batch.children.map((child) =>
      accept(child, ports.clock.now(), !ports.bus.isUp()),
    );
    const inserted =
      children.length > 0
        ? await ports.messages.insert(children.map((record) => ({ record })))
        : [];
    await announce(
      ports,
      children.filter((_, i) => inserted[i] === "inserted"),
    );
    const mine = await ports.messages.expanded(message.id, upTo, batch.upTo, batch.done);
    if (batch.done || !mine) return;
    upTo = batch.upTo;
  }
}

/** The child that `id` names, as it will be, while its parent has not made it yet. */
export async function unexpandedChild(
  ports: Pick<ExpandPorts, "messages" | "groups">,
  tenant: TenantId,
  id: MessageId,
): Promise<MessageRecord | undefined> {
  const named = parentOf(id);
  if (!named) return undefined;
  const [parent] = await ports.messages.get(tenant, [named.parent]);
  if (!parent || !isIn(parent, "expanding") || named.index < parent.state.upTo) return undefined;
  const { fanOut } = parent.message;
  if (!fanOut || fanOut.skipped.includes(named.index)) return undefined;
  const endpoints = await ports.groups.endpoints(tenant, fanOut.chunks);
  const endpoint = endpoints[named.index];
  if (!endpoint) return undefined;
  const child = childMessage(parent.message, endpoint, named.index);
  return accept(child, parent.message.createdAt);
}
