/**
 * The rates of a tenant's plan. A tenant without such a quota costs nothing here.
 *
 * (1) Messages of a day are counted in the token store, before their publish; while it is away none are refused.
 * (2) Lists of a second are counted in this process, and so are new expressions, of retry delays and of schedules, of which every
 *     tenant has the same number: reading one takes half a millisecond of the thread that all requests share, and up to two where
 *     its time zone is new.
 */
import {
  type ExceededRate,
  fault,
  type Fault,
  limitOf,
  type TenantId,
  untilMs,
} from "@posthaste/domain";
import { type Clock, type Log, type Tenant, type TokenStore } from "@posthaste/ports";

export type Rates = {
  /** Returns undefined when the tenant may publish without limit. */
  spendMessages(
    tenant: Tenant,
    count: () => number | Promise<number>,
  ): Promise<Fault | GiveBack> | undefined;
  spendList(tenant: Tenant): Fault | undefined;
  /** `field`: the header that has the expression. */
  spendExpression(tenant: TenantId, field: string): Fault | undefined;
};

/** Returns the messages of a refused publish to the day for which they were counted. */
type GiveBack = () => Promise<void>;

type RateParts = {
  readonly tokens: Pick<TokenStore, "spend">;
  readonly clock: Clock;
  readonly log: Log;
};

const secondMs = 1_000;
const dayMs = 24 * 3_600 * secondMs;
/** The time for which messages returned to a day that has just ended are kept; no publish counts them. */
const lastsMsMin = 1_000;
/** The number of tenants counted in one second; beyond it all counts begin anew. */
const tenantsMax = 10_000;
/** New expressions of a tenant in a second; a tenth of a core at most. */
const newExpressionsMax = 200;

export function createRates({ tokens, clock, log }: RateParts): Rates {
  const lists = countsOfSecond(clock);
  const expressions = countsOfSecond(clock);

  async function spend({ id }: Tenant, limit: number, n: number): Promise<Fault | GiveBack> {
    const day = Math.floor(clock.now() / dayMs);
    const resetsAt = (day + 1) * dayMs;
    const spendOfDay = (some: number, max: number) =>
      tokens.spend(
        `day:${id}:${day}`,
        some,
        max,
        Math.max(lastsMsMin, untilMs(resetsAt, dayMs, clock.now())),
      );
    const uncounted = (error: unknown): void => log.warn("quota.uncounted", { tenant: id, error });
    try {
      const { isWithin, left } = await spendOfDay(n, limit);
      if (!isWithin)
        return exceeded("maxMessagesPerDay", { of: "messagesPerDay", limit, left, resetsAt });
    } catch (error) {
      uncounted(error);
      return async () => undefined;
    }
    return async () => {
      await spendOfDay(-n, Number.MAX_SAFE_INTEGER).catch(uncounted);
    };
  }

  return {
    spendMessages: (tenant, count) => {
      const limit = limitOf(tenant.plan, "messagesPerDayMax");
      if (limit === undefined) return undefined;
      return Promise.resolve(count()).then((n) => spend(tenant, limit, n));
    },
    spendList: ({ id, plan }) => {
      const limit = limitOf(plan, "listsPerSecondMax");
      if (limit === undefined) return undefined;
      const { count, resetsAt } = lists(id);
      if (count <= limit) return undefined;
      return exceeded("maxListsPerSecond", { of: "listsPerSecond", limit, left: 0, resetsAt });
    },
    spendExpression: (tenant, field) =>
      expressions(tenant).count <= newExpressionsMax ? undefined : tooManyExpressions(field),
  };
}

const tooManyExpressions = (field: string): Fault =>
  fault("too_many_requests", `${field}: at most ${newExpressionsMax} new expressions a second`);

/** Counts the requests of each tenant in the current second of this process. */
function countsOfSecond(clock: Clock) {
  let second = 0;
  const counts = new Map<TenantId, number>();
  return (tenant: TenantId): { readonly count: number; readonly resetsAt: number } => {
    const passedMs = clock.passedMs();
    const now = Math.floor(passedMs / secondMs);
    if (now !== second || counts.size >= tenantsMax) counts.clear();
    second = now;
    const count = (counts.get(tenant) ?? 0) + 1;
    counts.set(tenant, count);
    return { count, resetsAt: clock.now() + ((second + 1) * secondMs - passedMs) };
  };
}

const exceeded = (quota: string, rate: ExceededRate): Fault => ({
  ...fault("too_many_requests", `quota ${quota} exceeded, current limit: ${rate.limit}`),
  rate,
});
