/**
 * Cancelling what matches a filter, in steps that stay short. Nothing is touched that was made after the call. A step has
 * told what follows from it before the next begins, so that no herd of follow-ups builds up.
 */
import { isFinished, type LiveFilter, type MessageId, type TenantId } from "@posthaste/domain";
import { type Clock, type Ids, type Walk, within } from "@posthaste/ports";
import { cancelPortion, cancelPortionMax, type CancelPorts } from "./cancel.ts";
import { unexpandedChildren, unmadeMatching } from "./fan-out.ts";

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
): Promise<Matched> =>
  step(ports, tenant, matching, async (ids) => {
    let count = 0;
    for (let n = 0; n < ids.length; n += cancelPortionMax) {
      const portion = ids.slice(n, n + cancelPortionMax);
      const { canceled, told } = await cancelPortion(ports, tenant, portion);
      count += canceled.length;
      await briefly(ports.clock, told);
    }
    return count;
  });

/** Counting reads no more than so many that match. */
export const matchedMax = 100_000;

/** Changes nothing. */
export const countMatching = (
  ports: MatchingPorts,
  tenant: TenantId,
  matching: Matching,
): Promise<Matched> => step(ports, tenant, matching, async (ids) => ids.length);

/** Of these ids, how many would be cancelled. */
export async function countLive(
  ports: Pick<MatchingPorts, "records" | "fanOuts" | "groups">,
  tenant: TenantId,
  asked: readonly MessageId[],
): Promise<number> {
  let count = 0;
  let left: readonly MessageId[] = [...new Set(asked)];
  const unmade = await unexpandedChildren(ports, tenant, left);
  // Ends: each call reads one at least.
  while (left.length > 0) {
    const some = await ports.records.getSome(tenant, left);
    for (const { message, state } of some.records) {
      if (!isFinished(state) && !unmade.has(message.id)) count += 1;
    }
    left = some.left;
  }
  return count + unmade.size;
}

/** Step by step; `work` answers how many of the ids count. Bounded by `until`, and by the records that there were at the call. */
async function step(
  ports: MatchingPorts,
  tenant: TenantId,
  { filter, countMax, until }: Matching,
  work: (ids: readonly MessageId[]) => Promise<number>,
): Promise<Matched> {
  const { clock, ids, records } = ports;
  const upTo: Walk["upTo"] = { id: ids.next(), at: clock.now() };
  let count = 0;
  let fanOut: MessageId | undefined;
  // What a fan-out has made when it is read, the walk finds.
  do {
    [fanOut] = await ports.fanOuts.expanding(tenant, fanOut, upTo.id, 1);
    if (fanOut === undefined) break;
    const unmade = await unmadeMatching(ports, tenant, fanOut, filter);
    if (unmade.length > 0) count += await work(unmade.slice(0, countMax - count));
    if (count >= countMax) return { count, isAll: true };
  } while (clock.now() < until);
  let after: Walk["after"];
  while (clock.now() < until) {
    const foundMax = Math.min(cancelPortionMax, countMax - count);
    const walk = { upTo, foundMax, lookedMax, ...(after !== undefined && { after }) };
    const walked = await records.matching(tenant, filter, walk);
    if (walked.ids.length > 0) count += await work(walked.ids);
    after = walked.next;
    if (after === undefined || count >= countMax) return { count, isAll: true };
  }
  return { count, isAll: false };
}

async function briefly(clock: Clock, told: Promise<void>): Promise<void> {
  await within(clock, toldMsMax, told, () => new Error("not told yet")).catch(() => undefined);
}
