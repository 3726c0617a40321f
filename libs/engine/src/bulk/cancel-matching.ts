/**
 * Cancels the messages that match a filter, in short steps (B4). Messages made after the call are not touched (B1). No more than
 * two portions of messages have consequences to report at once, so that follow-ups do not pile up.
 */
import {
  bulkBeginning,
  type BulkEnd,
  type BulkPlace,
  isFinished,
  type LiveFilter,
  type MessageId,
  type TenantId,
} from "@posthaste/domain";
import { type Clock, type Ids, within } from "@posthaste/ports";
import { cancelPortion, cancelPortionMax, type CancelPorts } from "./cancel.ts";
import { unexpandedChildren, unmadeMatching } from "../publish/fan-out.ts";

export type MatchingPorts = CancelPorts & { readonly ids: Ids };

/** The highest number of records that a step looks at, matching or not. */
const lookedMax = 5_000;
/** The longest time for which a step waits to report its consequences, as while the bus is away; alarms then do the rest. */
const consequencesMsMax = 2_000;

export type Matching = {
  readonly filter: LiveFilter;
  /** The number of messages after which the call ends. */
  readonly countMax: number;
  /** The time, by `passedMs`, after which no step begins. */
  readonly until: number;
};

/** `isAll`: no message that was asked for is left. */
export type Matched = { readonly count: number; readonly isAll: boolean };

export const cancelMatching = (
  ports: MatchingPorts,
  tenant: TenantId,
  matching: Matching,
): Promise<Matched> => walk(ports, tenant, matching, (ids) => cancelToTheEnd(ports, tenant, ids));

async function cancelToTheEnd(
  ports: MatchingPorts,
  tenant: TenantId,
  ids: readonly MessageId[],
): Promise<number> {
  const consequences = boundConsequences(ports.clock);
  const count = await cancelPage(ports, tenant, ids, consequences);
  await consequences.ended();
  return count;
}

async function cancelPage(
  ports: MatchingPorts,
  tenant: TenantId,
  ids: readonly MessageId[],
  consequences: Consequences,
): Promise<number> {
  let count = 0;
  for (let n = 0; n < ids.length; n += cancelPortionMax) {
    const portion = ids.slice(n, n + cancelPortionMax);
    const { canceled, carriedOut } = await cancelPortion(ports, tenant, portion);
    count += canceled.length;
    await consequences.add(carriedOut);
  }
  return count;
}

/** Keeps the consequences of at most two portions of messages under way. */
type Consequences = {
  /** Adds those of a portion, and resolves when those of the portion before are reported. */
  readonly add: (carriedOut: Promise<void>) => Promise<void>;
  readonly ended: () => Promise<void>;
};

function boundConsequences(clock: Clock): Consequences {
  let last = Promise.resolve();
  return {
    add: (carriedOut) => {
      const before = last;
      last = briefly(clock, carriedOut);
      return before;
    },
    ended: () => last,
  };
}

/** The highest number of matching messages that a count reads. */
export const matchedMax = 100_000;

export const countMatching = (
  ports: MatchingPorts,
  tenant: TenantId,
  matching: Matching,
): Promise<Matched> => walk(ports, tenant, matching, async (ids) => ids.length);

/** Counts the messages of `asked` that a cancel would end. Messages of runs do not count (ADR 42). */
export async function countLive(
  ports: Pick<MatchingPorts, "records" | "fanOuts" | "groups">,
  tenant: TenantId,
  asked: readonly MessageId[],
): Promise<number> {
  let count = 0;
  let left: readonly MessageId[] = [...new Set(asked)];
  const unmade = new Set<MessageId>();
  for await (const children of unexpandedChildren(ports, tenant, left))
    for (const { message } of children) unmade.add(message.id);
  // Ends, since each call reads at least one record.
  while (left.length > 0) {
    const some = await ports.records.getSome(tenant, left);
    for (const { message, state } of some.records) {
      if (!isFinished(state) && !message.run && !unmade.has(message.id)) count += 1;
    }
    left = some.left;
  }
  return count + unmade.size;
}

/** Walks step by step; `work` returns how many of its ids count. Bounded by `until`, and by the records that existed at the call. */
async function walk(
  ports: MatchingPorts,
  tenant: TenantId,
  { filter, countMax, until }: Matching,
  work: Work,
): Promise<Matched> {
  const { clock } = ports;
  const upTo = endNow(ports);
  let count = 0;
  let place: BulkPlace | undefined = bulkBeginning("cancel");
  while (clock.passedMs() < until) {
    const foundMax = countMax - count;
    const page: Page = await pageAt(ports, tenant, { filter, upTo, place, foundMax });
    count += await work(page.ids);
    place = page.next;
    if (place === undefined || count >= countMax) return { count, isAll: true };
  }
  return { count, isAll: false };
}

export const endNow = ({ clock, ids }: Pick<MatchingPorts, "clock" | "ids">): BulkEnd => ({
  id: ids.next(),
  at: clock.now(),
});

type Step = {
  readonly filter: LiveFilter;
  readonly upTo: BulkEnd;
  readonly place: BulkPlace;
  /** The number of matching messages at which the step ends. */
  readonly foundMax: number;
};

type Work = (ids: readonly MessageId[]) => Promise<number>;

/** `next` is undefined after the last step. */
export type Stepped = { readonly count: number; readonly next?: BulkPlace };

/**
 * Makes the steps of a bulk action, as long as `mayBegin`: each is one fan-out or one page of messages. While a step cancels,
 * the page of the next is read, and the consequences of the step before are reported. The last step is yielded once its own are reported.
 */
export async function* cancelSteps(
  ports: MatchingPorts,
  tenant: TenantId,
  { place: first, ...step }: Omit<Step, "foundMax">,
  mayBegin: () => boolean,
): AsyncGenerator<Stepped> {
  const read = (place: BulkPlace): Promise<Page> => {
    const reading = pageAt(ports, tenant, { ...step, place, foundMax: Infinity });
    // A page that is read after the last step, and fails, concerns no caller.
    reading.catch(() => undefined);
    return reading;
  };
  const consequences = boundConsequences(ports.clock);
  let reading: Promise<Page> | undefined = mayBegin() ? read(first) : undefined;
  while (reading && mayBegin()) {
    const { ids, next } = await reading;
    reading = next && read(next);
    const count = await cancelPage(ports, tenant, ids, consequences);
    if (!next) await consequences.ended();
    yield { count, ...(next && { next }) };
  }
}

/** The messages of a step, and the place of the next step: undefined at the end. */
type Page = { readonly ids: readonly MessageId[]; readonly next: BulkPlace | undefined };

/** Reads one page: of one fan-out the children that are not made, or some messages. */
async function pageAt(
  ports: MatchingPorts,
  tenant: TenantId,
  { filter, upTo, place, foundMax }: Step,
): Promise<Page> {
  if (place.in === "fanOuts") {
    // The walk through the messages finds the children that the fan-out makes in the meantime.
    const [fanOut] = await ports.fanOuts.expanding(tenant, place.after, upTo.id, 1);
    if (fanOut === undefined) return { ids: [], next: { in: "messages" } };
    const unmade = await unmadeMatching(ports, tenant, fanOut, filter);
    return { ids: unmade.slice(0, foundMax), next: { in: "fanOuts", after: fanOut } };
  }
  const { ids, next } = await ports.records.matching(tenant, filter, {
    upTo,
    foundMax: Math.min(cancelPortionMax, foundMax),
    lookedMax,
    ...(place.after !== undefined && { after: place.after }),
  });
  return { ids, next: next === undefined ? undefined : { in: "messages", after: next } };
}

async function briefly(clock: Clock, carriedOut: Promise<void>): Promise<void> {
  await within(clock, consequencesMsMax, carriedOut, () => new Error("not carried out yet")).catch(
    () => undefined,
  );
}
