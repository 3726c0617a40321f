/**
 * Counts unfinished records for each tenant: in the store, at most once a second, and less often when counting takes
 * long. Records that this process has inserted since a count began are added to it, so that a slow count may be late,
 * but never misses those.
 */
import { isFinished, liveKinds, type MessageRecord, type TenantId } from "@posthaste/domain";
import { type Clock } from "@posthaste/ports";
import { type Store } from "./store.ts";

type Count = {
  readonly n: number;
  readonly begunMs: number;
  readonly tookMs: number;
  readonly insertedBefore: number;
};
type Tenant = {
  counted: Count | undefined;
  counting: Promise<number> | undefined;
  inserted: number;
};

export type Backlogs = {
  /** Resolves to the last count and counts again in the background. Waits only if there is no count or it is too old. */
  readonly of: (tenant: TenantId) => Promise<number>;
  readonly inserting: (records: readonly MessageRecord[]) => void;
};

export function createBacklogs(
  clock: Pick<Clock, "passedMs">,
  countIn: (tenant: TenantId) => Promise<number>,
): Backlogs {
  const tenants = new Map<TenantId, Tenant>();

  const count = async (id: TenantId, tenant: Tenant): Promise<number> => {
    const [begunMs, insertedBefore] = [clock.passedMs(), tenant.inserted];
    try {
      const n = await countIn(id);
      tenant.counted = { n, begunMs, tookMs: clock.passedMs() - begunMs, insertedBefore };
      return n;
    } finally {
      tenant.counting = undefined;
    }
  };

  return {
    of: (id) => {
      const tenant = tenants.get(id) ?? { counted: undefined, counting: undefined, inserted: 0 };
      tenants.set(id, tenant);
      const { counted } = tenant;
      const ageMs = counted ? clock.passedMs() - counted.begunMs : Number.POSITIVE_INFINITY;
      const everyMs = Math.max(countEveryMs, (counted?.tookMs ?? 0) * restPerCount);
      const more = counted ? tenant.inserted - counted.insertedBefore : 0;
      // A new count is worth its cost once as many records were inserted as the last one counted, however long that took.
      const isWorth = ageMs >= countEveryMs && more >= Math.max(insertedPerCount, counted?.n ?? 0);
      if (ageMs >= everyMs || isWorth) tenant.counting ??= count(id, tenant);
      if (counted && ageMs < everyMs * tooOldFactor) {
        // The next caller gets the failure, once the count is too old.
        tenant.counting?.catch(() => undefined);
        return Promise.resolve(ageMs < lateMs ? counted.n : counted.n + more);
      }
      return tenant.counting ?? Promise.resolve(counted?.n ?? 0);
    },
    inserting: (records) => {
      for (const { message, state } of records) {
        const tenant = tenants.get(message.tenant);
        if (tenant && !isFinished(state)) tenant.inserted += 1;
      }
    },
  };
}

export const countLive =
  ({ again, messages }: Pick<Store, "again" | "messages">) =>
  (tenant: TenantId): Promise<number> =>
    again(() => messages.countDocuments({ tenant, state: { $in: [...liveKinds] } }));

const countEveryMs = 1_000;
/** A count this young is returned without later inserts, since most of those were delivered. */
const lateMs = 2 * countEveryMs;
const tooOldFactor = 5;
/** Counting takes at most a twentieth of the time. */
const restPerCount = 20;
const insertedPerCount = 1_000;
