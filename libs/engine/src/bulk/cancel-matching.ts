/**
 * Cancelling what matches a filter, in steps that stay short (B4). Nothing is touched that was made after the call (B1). A
 * step has told what follows from it before the next begins, so that no herd of follow-ups builds up.
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

/** A step looks at no more records than this, whether they match or not. */
const lookedMax = 5_000;
/** While the bus is away a step waits no longer: the alarms tell what is left. */
const toldMsMax = 2_000;

export type Matching = {
  readonly filter: LiveFilter;
  /** Ends after so many. */
  readonly countMax: number;
  /** By the clock: no step begins later. */
  readonly until: number;
};

/** `isAll`: there is no more, or it was not asked for. */
export type Matched = { readonly count: number; readonly isAll: boolean };

export const cancelMatching = (
  ports: MatchingPorts,
  tenant: TenantId,
  matching: Matching,
): Promise<Matched> => walk(ports, tenant, matching, (ids) => cancelAndTell(ports, tenant, ids));

async function cancelAndTell(
  ports: MatchingPorts,
  tenant: TenantId,
  ids: readonly MessageId[],
): Promise<number> {
  let count = 0;
  for (let n = 0; n < ids.length; n += cancelPortionMax) {
    const portion = ids.slice(n, n + cancelPortionMax);
    const { canceled, told } = await cancelPortion(ports, tenant, portion);
    count += canceled.length;
    await briefly(ports.clock, told);
  }
  return count;
}

/** Counting reads no more than so many that match. */
export const matchedMax = 100_000;

/** Changes nothing. */
export const countMatching = (
  ports: MatchingPorts,
  tenant: TenantId,
  matching: Matching,
): Promise<Matched> => walk(ports, tenant, matching, async (ids) => ids.length);

/** Of these ids, how many would be cancelled: none that is a run's (ADR 42). */
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
  // Ends: each call reads one at least.
  while (left.length > 0) {
    const some = await ports.records.getSome(tenant, left);
    for (const { message, state } of some.records) {
      if (!isFinished(state) && !message.run && !unmade.has(message.id)) count += 1;
    }
    left = some.left;
  }
  return count + unmade.size;
}

/** Step by step; `work` answers how many of the ids count. Bounded by `until`, and by the records that there were at the call. */
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
    const step: Stepped = await stepOf(ports, tenant, { filter, upTo, place, foundMax }, work);
    count += step.count;
    place = step.next;
    if (place === undefined || count >= countMax) return { count, isAll: true };
  }
  return { count, isAll: false };
}

/** Where a walk ends that begins now. */
export const endNow = ({ clock, ids }: Pick<MatchingPorts, "clock" | "ids">): BulkEnd => ({
  id: ids.next(),
  at: clock.now(),
});

type Step = {
  readonly filter: LiveFilter;
  readonly upTo: BulkEnd;
  readonly place: BulkPlace;
  /** Ends after so many that match. */
  readonly foundMax: number;
};

type Work = (ids: readonly MessageId[]) => Promise<number>;

/** `next` undefined: it was the last. */
export type Stepped = { readonly count: number; readonly next?: BulkPlace };

export const cancelStep = (
  ports: MatchingPorts,
  tenant: TenantId,
  step: Omit<Step, "foundMax">,
): Promise<Stepped> =>
  stepOf(ports, tenant, { ...step, foundMax: Infinity }, (ids) =>
    cancelAndTell(ports, tenant, ids),
  );

/** One fan-out whose children are not all made, or one portion of messages. */
async function stepOf(
  ports: MatchingPorts,
  tenant: TenantId,
  { filter, upTo, place, foundMax }: Step,
  work: Work,
): Promise<Stepped> {
  if (place.in === "fanOuts") {
    // What a fan-out has made when it is read, the walk finds.
    const [fanOut] = await ports.fanOuts.expanding(tenant, place.after, upTo.id, 1);
    if (fanOut === undefined) return { count: 0, next: { in: "messages" } };
    const unmade = await unmadeMatching(ports, tenant, fanOut, filter);
    const count = unmade.length > 0 ? await work(unmade.slice(0, foundMax)) : 0;
    return { count, next: { in: "fanOuts", after: fanOut } };
  }
  const { ids, next } = await ports.records.matching(tenant, filter, {
    upTo,
    foundMax: Math.min(cancelPortionMax, foundMax),
    lookedMax,
    ...(place.after !== undefined && { after: place.after }),
  });
  const count = ids.length > 0 ? await work(ids) : 0;
  return { count, ...(next !== undefined && { next: { in: "messages", after: next } }) };
}

async function briefly(clock: Clock, told: Promise<void>): Promise<void> {
  await within(clock, toldMsMax, told, () => new Error("not told yet")).catch(() => undefined);
}
