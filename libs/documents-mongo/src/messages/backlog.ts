/** Unfinished records per tenant: counted by the store, at most once a second and seldom where counting takes long. */
import { type TenantId } from "@posthaste/domain";
import { type Rooms } from "./rooms.ts";
import { liveStates } from "./stored.ts";

type Count = { readonly n: number; readonly at: number; readonly tookMs: number };
type Tenant = { counted: Count | undefined; counting: Promise<number> | undefined };

/** Answers what was last counted and counts again beside it; waits only for a count that is missing or too old. */
export function createBacklog({
  again,
  messages,
  clock,
}: Rooms): (tenant: TenantId) => Promise<number> {
  const tenants = new Map<TenantId, Tenant>();

  const count = async (id: TenantId, tenant: Tenant): Promise<number> => {
    const at = clock.now();
    try {
      const filter = { tenant: id, state: { $in: [...liveStates] } };
      const n = await again(() => messages.countDocuments(filter));
      tenant.counted = { n, at, tookMs: clock.now() - at };
      return n;
    } finally {
      tenant.counting = undefined;
    }
  };

  return (id) => {
    const tenant = tenants.get(id) ?? { counted: undefined, counting: undefined };
    tenants.set(id, tenant);
    const { counted } = tenant;
    const ageMs = counted ? clock.now() - counted.at : Number.POSITIVE_INFINITY;
    const everyMs = Math.max(countEveryMs, (counted?.tookMs ?? 0) * restPerCount);
    if (ageMs >= everyMs) tenant.counting ??= count(id, tenant);
    if (counted && ageMs < everyMs * tooOldFactor) {
      // The next caller hears of the failure, once the count is too old.
      tenant.counting?.catch(() => undefined);
      return Promise.resolve(counted.n);
    }
    return tenant.counting ?? Promise.resolve(counted?.n ?? 0);
  };
}

const countEveryMs = 1_000;
const tooOldFactor = 5;
/** Counting takes a twentieth of the time at most. */
const restPerCount = 20;
