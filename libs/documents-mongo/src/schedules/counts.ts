/** Counts the schedules of a tenant: along the index every ten seconds, with this process's changes added between. */
import { type TenantId, TextCache } from "@posthaste/domain";
import { type Collection } from "mongodb";
import { type Connection } from "../connection.ts";
import { type StoredSchedule } from "./stored.ts";

const countEveryMs = 10_000;
const kept = { entriesMax: 10_000, lengthMax: 128 };

export function createCounts(
  { again, clock }: Pick<Connection, "again" | "clock">,
  schedules: Collection<StoredSchedule>,
) {
  const known = new TextCache<{ readonly atMs: number; count: number }>(kept);
  return {
    of: async (tenant: TenantId): Promise<number> => {
      const passedMs = clock.passedMs();
      const seen = known.get(tenant);
      if (seen && passedMs - seen.atMs < countEveryMs) return seen.count;
      const count = await again(() => schedules.countDocuments({ tenant }));
      known.set(tenant, { atMs: passedMs, count });
      return count;
    },
    add: (tenant: TenantId, n: number): void => {
      const seen = known.get(tenant);
      if (seen) seen.count += n;
    },
  };
}
