/**
 * How often a tenant may ask, by its plan. A tenant without such a quota costs nothing here.
 *
 * (1) messages of a day are counted in the token store, before their publish; while that is away none are refused.
 * (2) lists of a second are counted in this process.
 */
import { type ExceededRate, fault, type Fault, limitOf, type TenantId } from "@posthaste/domain";
import { type Clock, type Log, type Tenant, type TokenStore } from "@posthaste/ports";

export type Rates = {
  /** Undefined: the tenant may publish as many as it likes. */
  spendMessages(
    tenant: Tenant,
    count: () => number | Promise<number>,
  ): Promise<Fault | undefined> | undefined;
  /** Of a publish that was refused after all. */
  giveBackMessages(tenant: Tenant, n: number): Promise<void>;
  spendList(tenant: Tenant): Fault | undefined;
};

type RateParts = {
  readonly tokens: Pick<TokenStore, "spend">;
  readonly clock: Clock;
  readonly log: Log;
};

const secondMs = 1_000;
const dayMs = 24 * 3_600 * secondMs;
/** Tenants that list something in one second; beyond them all begin anew. */
const tenantsMax = 10_000;

export function createRates({ tokens, clock, log }: RateParts): Rates {
  let second = 0;
  const lists = new Map<TenantId, number>();

  async function spend({ id }: Tenant, limit: number, n: number): Promise<Fault | undefined> {
    const now = clock.now();
    const day = Math.floor(now / dayMs);
    const resetsAt = (day + 1) * dayMs;
    try {
      const { isWithin, left } = await tokens.spend(`day:${id}:${day}`, n, limit, resetsAt - now);
      if (isWithin) return undefined;
      return exceeded("maxMessagesPerDay", { of: "messagesPerDay", limit, left, resetsAt });
    } catch (error) {
      log.warn("quota.uncounted", { tenant: id, error });
      return undefined;
    }
  }

  return {
    spendMessages: (tenant, count) => {
      const limit = limitOf(tenant.plan, "messagesPerDayMax");
      if (limit === undefined) return undefined;
      return Promise.resolve(count()).then((n) => spend(tenant, limit, n));
    },
    giveBackMessages: async (tenant, n) => {
      if (limitOf(tenant.plan, "messagesPerDayMax") !== undefined)
        await spend(tenant, Number.MAX_SAFE_INTEGER, -n);
    },
    spendList: ({ id, plan }) => {
      const limit = limitOf(plan, "listsPerSecondMax");
      if (limit === undefined) return undefined;
      const now = Math.floor(clock.now() / secondMs);
      if (now !== second || lists.size >= tenantsMax) lists.clear();
      second = now;
      const count = (lists.get(id) ?? 0) + 1;
      lists.set(id, count);
      if (count <= limit) return undefined;
      const resetsAt = (second + 1) * secondMs;
      return exceeded("maxListsPerSecond", { of: "listsPerSecond", limit, left: 0, resetsAt });
    },
  };
}

const exceeded = (quota: string, rate: ExceededRate): Fault => ({
  ...fault("too_many_requests", `quota ${quota} exceeded, current limit: ${rate.limit}`),
  rate,
});
