/** Publishes one portion of a batch: claims its keys, inserts its records by one call, announces them. */
import {
  type DeduplicationKey,
  deduplicationKeys,
  type Fault,
  isFault,
  type MessageId,
  type PublishCommand,
  type TenantId,
} from "@posthaste/domain";
import { type DeduplicationEntry } from "@posthaste/ports";
import {
  type AcceptPorts,
  begin,
  type PreparedInsert,
  giveBack,
  insertOf,
  prepare,
  type Published,
  withSlots,
} from "./accept.ts";
import { announceInBackground } from "./announce.ts";
import { claimKeys, confirmKeys, goneMessages } from "./deduplicate.ts";
import {
  newGroupResult,
  type GroupPublish,
  insertFanOut,
  type PublishedGroup,
  publishToEndpoints,
} from "./group-publish.ts";

/** The message of a URL, the messages of a group, or a fault if the outcome is unknown or the item was not tried. */
export type PublishOutcome = Published | PublishedGroup | Fault;

export type Item =
  | { readonly kind: "url"; readonly command: PublishCommand; readonly url: string }
  | { readonly kind: "group"; readonly publish: GroupPublish };
export type Portion = readonly Item[];

/** Reports whether an item needs a portion of its own: it may take over several parents, each with an insert. */
export const isAlone = (item: Item | undefined): boolean =>
  item?.kind === "group" && item.publish.command.deduplication !== undefined;

type Before = {
  readonly outcomes: readonly PublishOutcome[];
  /** The index at which each key came first. */
  readonly firsts: Map<DeduplicationKey, number>;
};

export async function publishPortion(
  ports: AcceptPorts,
  portion: Portion,
  before: Before,
): Promise<readonly PublishOutcome[] | Fault> {
  const [first] = portion;
  if (first?.kind === "group" && isAlone(first)) {
    const published = await publishToEndpoints(ports, first.publish);
    return isFault(published) ? published : [published];
  }
  const keyed = keyedOf(ports, portion, before);
  const claimed = await claimsOf(ports, keyed, commandOf(first)?.tenant);
  if (isFault(claimed)) return claimed;
  const made = await insertAll(ports, portion, claimed);
  return portion.map((item, i) => {
    const again = keyed[i]?.sameAs;
    const own = made[i];
    if (own) return own;
    const of =
      again === undefined
        ? undefined
        : (before.outcomes[again] ?? made[again - before.outcomes.length]);
    if (item.kind === "group" || of === undefined || !("messageId" in of))
      throw new Error("an equal key came first");
    return { messageId: of.messageId, url: item.url, deduplicated: true };
  });
}

const commandOf = (item: Item | undefined): PublishCommand | undefined =>
  item?.kind === "group" ? item.publish.command : item?.command;

/** `sameAs`: the index at which the key came first in the batch. */
type Keyed = { readonly key?: DeduplicationKey; readonly sameAs?: number };

function keyedOf(ports: AcceptPorts, portion: Portion, { outcomes, firsts }: Before): Keyed[] {
  return portion.map((item, i) => {
    const [key] = item.kind === "url" ? deduplicationKeys(item.command, [], ports.sha256) : [];
    if (key === undefined) return {};
    const sameAs = firsts.get(key);
    if (sameAs !== undefined) return { sameAs };
    firsts.set(key, outcomes.length + i);
    return { key };
  });
}

/** The work to do for an item: an insert under `id` with the keys that name it, or none. */
type Claim =
  | {
      readonly kind: "insert";
      readonly id: MessageId;
      readonly entries: readonly DeduplicationEntry[];
    }
  | { readonly kind: "duplicate"; readonly id: MessageId }
  | { readonly kind: "again" };

async function claimsOf(
  ports: AcceptPorts,
  keyed: readonly Keyed[],
  tenant: TenantId | undefined,
): Promise<readonly Claim[] | Fault> {
  const own = keyed.map(({ key }) => ({ key, id: ports.ids.next() }));
  const entries = own.flatMap(({ key, id }) => (key === undefined ? [] : { key, id }));
  const verdicts =
    entries.length > 0 && tenant !== undefined
      ? await claimKeys(ports, entries, goneMessages(ports, tenant))
      : [];
  if (isFault(verdicts)) return verdicts;
  const ofKey = new Map(entries.map(({ key }, i) => [key, verdicts[i]]));
  return own.map(({ key, id }, i): Claim => {
    if (keyed[i]?.sameAs !== undefined) return { kind: "again" };
    if (key === undefined) return { kind: "insert", id, entries: [] };
    const verdict = ofKey.get(key);
    if (verdict?.kind === "duplicate") return verdict;
    const named = verdict?.kind === "takeOver" ? verdict.id : id;
    return { kind: "insert", id: named, entries: [{ key, id: named }] };
  });
}

/**
 * Makes one insert for all records of the portion, and one for each fan-out. An item that is not inserted has the
 * outcome of its duplicate, or undefined for now.
 */
async function insertAll(
  ports: AcceptPorts,
  portion: Portion,
  claims: readonly Claim[],
): Promise<readonly (PublishOutcome | undefined)[]> {
  // Before any slot is taken, so that a failed fan-out leaves no slot behind.
  await Promise.all(portion.map((item, i) => insertGroup(ports, item, claims[i])));
  const entering = await withSlots(
    ports,
    portion.map((item, i) => enteringOf(ports, item, claims[i])),
  );
  const present = entering.filter((each) => each !== undefined);
  const inserts = entering.flatMap((each, i) => {
    const claim = claims[i];
    return each && claim?.kind === "insert" ? insertOf(each, claim.entries) : [];
  });
  if (inserts.length === 0) return portion.map((item, i) => outcomeOf(item, claims[i], false));
  const inserted = await ports.records.insert(inserts, "new").catch((error: unknown) => {
    for (const each of present) giveBack(ports, each);
    throw error;
  });
  const isNew = new Set(present.filter((_, i) => inserted[i] === "inserted"));
  for (const each of present) if (!isNew.has(each)) giveBack(ports, each);
  const silent = [...isNew].filter((each) => !begin(ports, each)).map(({ record }) => record);
  if (silent.length > 0) announceInBackground(ports, silent);
  const entries = inserts.flatMap(({ deduplication = [] }) => deduplication);
  if (entries.length > 0) await confirmKeys(ports, entries);
  return portion.map((item, i) => {
    const each = entering[i];
    return outcomeOf(item, claims[i], each !== undefined && isNew.has(each));
  });
}

async function insertGroup(
  ports: AcceptPorts,
  item: Item,
  claim: Claim | undefined,
): Promise<void> {
  if (claim?.kind !== "insert" || item.kind === "url") return;
  await insertFanOut(ports, item.publish, { parent: claim.id, entries: [] }, "new");
}

const enteringOf = (
  ports: AcceptPorts,
  item: Item,
  claim: Claim | undefined,
): PreparedInsert | undefined =>
  claim?.kind === "insert" && item.kind === "url"
    ? prepare(ports, item.command, item.url, claim.id)
    : undefined;

function outcomeOf(
  item: Item,
  claim: Claim | undefined,
  isNew: boolean,
): PublishOutcome | undefined {
  if (!claim || claim.kind === "again") return undefined;
  if (item.kind === "url") return { messageId: claim.id, url: item.url, deduplicated: !isNew };
  return newGroupResult(item.publish.group, claim.id);
}
