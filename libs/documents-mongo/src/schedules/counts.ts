/** How many schedules a tenant has: counted along the index now and then, and by what this process does between. */
import { type TenantId } from "@posthaste/domain";
import { type Collection } from "mongodb";
import { type Connection } from "../connection.ts";
import { type StoredSchedule } from "./stored.ts";

const countEveryMs = 10_000;
const tenantsKept = 10_000;

export function createCounts(
  { again, clock }: Pick<Connection, "again" | "clock">,
  schedules: Collection<StoredSchedule>,
) {
  const known = new Map<TenantId, { readonly atMs: number; count: number }>();
  return {
    of: async (tenant: TenantId): Promise<number> => {
      const passedMs = clock.passedMs();
      const seen = known.get(tenant);
      if (seen && passedMs - seen.atMs < countEveryMs) return seen.count;
      const count = await again(() => schedules.countDocuments({ tenant }));
      if (known.size >= tenantsKept) known.clear();
      known.set(tenant, { atMs: passedMs, count });
      return count;
    },
    add: (tenant: TenantId, n: number): void => {
      const seen = known.get(tenant);
      if (seen) seen.count += n;
    },
  };
}
