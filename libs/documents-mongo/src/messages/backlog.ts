/**
 * Counts unfinished records per tenant: in the store, at most once a second and seldom where counting takes long. Records
 * that this process has inserted since a count began are added to it, so that a slow count is late, but never too low by
 * them.
 */
import { isFinished, liveKinds, type MessageRecord, type TenantId } from "@posthaste/domain";
import { type Clock } from "@posthaste/ports";
import { type Rooms } from "./rooms.ts";

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
  /** Returns the last count and counts again in the background; waits only where there is no count or it is too old. */
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
      // As many inserts as were last counted pay for the next count, however long the last one took.
      const isWorth = ageMs >= countEveryMs && more >= Math.max(insertedPerCount, counted?.n ?? 0);
      if (ageMs >= everyMs || isWorth) tenant.counting ??= count(id, tenant);
      if (counted && ageMs < everyMs * tooOldFactor) {
        // The next caller hears of the failure, once the count is too old.
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
  ({ again, messages }: Pick<Rooms, "again" | "messages">) =>
  (tenant: TenantId): Promise<number> =>
    again(() => messages.countDocuments({ tenant, state: { $in: [...liveKinds] } }));

const countEveryMs = 1_000;
/** A count this young is returned without the inserts since: most of them have been delivered. */
const lateMs = 2 * countEveryMs;
const tooOldFactor = 5;
/** Counting takes a twentieth of the time at most. */
const restPerCount = 20;
const insertedPerCount = 1_000;
