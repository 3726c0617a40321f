/**
 * The quotas of a tenant's plan, for new messages and starts of runs: the backlog, the messages of a day, and the
 * tenant's queues; and the rates of lists and of new expressions.
 */
import {
  beyondQuota,
  type ExceededRate,
  fault,
  type Fault,
  isFault,
  limitOf,
  type QuotaNeed,
  RoundRobin,
  type TenantId,
  untilMs,
} from "@posthaste/domain";
import { makeQueues, type QuotaRefusal } from "@posthaste/engine";
import {
  type Clock,
  type Log,
  type Queues,
  type Records,
  type Tenant,
  type TokenStore,
} from "@posthaste/ports";

export type QuotaParts = {
  readonly backlog: Pick<BacklogQuota, "add">;
  readonly queues: Pick<Queues, "make">;
  readonly rates: Pick<Rates, "spendMessages">;
  readonly intake: Intake;
};

/** Closed when the process stops: it then accepts publishes of an existing run, whose step is running, and nothing new. */
export type Intake = { readonly isClosed: boolean };

/**
 * Spends the quota that new messages and starts of runs need. Called once nothing else can refuse the publishes; spends
 * all or nothing. A stopping process refuses. Returns undefined synchronously if the plan counts no messages and no
 * queue is named, as for almost every message.
 */
export function spendQuota(
  parts: QuotaParts,
  tenant: Tenant,
  need: QuotaNeed,
): Promise<QuotaRefusal | undefined> | undefined {
  if (parts.intake.isClosed) return Promise.resolve({ refused: closed });
  // The guards have counted one message already.
  parts.backlog.add(tenant, need.messages - 1);
  const spending = parts.rates.spendMessages(tenant, () => need.messages);
  if (!spending && need.queues.length === 0) return undefined;
  return take(parts, tenant, need, spending);
}

async function take(
  { queues }: QuotaParts,
  tenant: Tenant,
  need: QuotaNeed,
  spending: ReturnType<Rates["spendMessages"]>,
): Promise<QuotaRefusal | undefined> {
  const spent = await spending;
  if (isFault(spent)) return { refused: spent };
  if (need.queues.length === 0) return undefined;
  const refusal = await makeQueues({ queues }, tenant.id, need.queues, tenant.plan);
  if (refusal) await spent?.();
  return refusal;
}

const closed = fault("overloaded", "stopping: no new message is taken");

const lookEveryMs = 1_000;
/** The age, in milliseconds, up to which a count is used alone: most messages accepted since have been delivered. */
const lateMs = 2 * lookEveryMs;
/** The number of tenants kept; beyond it the tenant seen first is forgotten. */
const tenantsKept = 10_000;

type BacklogPorts = {
  readonly records: Pick<Records, "backlog">;
  readonly clock: Pick<Clock, "passedMs">;
};

type Seen = {
  /** The last count; 0 before the first one. */
  unfinished: number;
  /** The time, by `passedMs`, at which that count began; before the first count, the time of the first publish. */
  countedAt: number;
  /** The number of messages accepted here since then. */
  since: number;
  lookedAt: number;
  isLooking: boolean;
};

/**
 * The backlog quota (docs/design/wire#plans), looked up once a second per tenant, so that a burst may exceed it by a
 * second's worth. While a count is late, the messages accepted here since it began are added to it, so that the quota
 * holds however long counting takes.
 */
export class BacklogQuota {
  readonly #ports: BacklogPorts;
  readonly #seen = new RoundRobin<string, Seen>();

  constructor(ports: BacklogPorts) {
    this.#ports = ports;
  }

  /** Returns undefined if one message may be accepted, and counts it. */
  refuse(tenant: Tenant): Fault | undefined {
    const passedMs = this.#ports.clock.passedMs();
    const seen = this.#seenOf(tenant, passedMs);
    if (!seen.isLooking && passedMs - seen.lookedAt >= lookEveryMs)
      void this.#look(tenant, seen, passedMs);
    const unseen = passedMs - seen.countedAt > lateMs ? seen.since : 0;
    if (seen.unfinished + unseen >= tenant.plan.backlogMax) return tooMany(tenant);
    seen.since += 1;
    return undefined;
  }

  /** Counts `n` more messages of an accepted publish. */
  add(tenant: Tenant, n: number): void {
    const seen = this.#seen.get(tenant.id);
    if (seen) seen.since += n;
  }

  #seenOf({ id }: Tenant, passedMs: number): Seen {
    const known = this.#seen.get(id);
    if (known) return known;
    if (this.#seen.size >= tenantsKept) this.#seen.take();
    const seen: Seen = {
      unfinished: 0,
      countedAt: passedMs,
      since: 0,
      lookedAt: Number.NEGATIVE_INFINITY,
      isLooking: false,
    };
    this.#seen.put(id, seen);
    return seen;
  }

  /** Counts the backlog. When the store cannot answer, it refuses the publish itself. */
  async #look(tenant: Tenant, seen: Seen, passedMs: number): Promise<void> {
    const { since } = seen;
    seen.lookedAt = passedMs;
    seen.isLooking = true;
    try {
      seen.unfinished = await this.#ports.records.backlog(tenant.id);
      seen.countedAt = passedMs;
      seen.since -= since;
    } catch {
      // The last count stays, with the messages accepted since.
    } finally {
      seen.isLooking = false;
    }
  }
}

/** Not 412: the fault ends when some messages have been delivered. */
const tooMany = ({ plan }: Tenant): Fault =>
  fault("too_many_requests", beyondQuota("maxBacklog", plan.backlogMax).text);

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

/**
 * The rates of a tenant's plan. A tenant without such a quota costs nothing here.
 *
 * (1) Messages of a day are counted in the token store, before their publish; while it is away none are refused.
 * (2) Lists of a second are counted in this process, and so are new expressions, of retry delays and of schedules, of which every
 *     tenant has the same number: reading one takes half a millisecond of the thread that all requests share, and up to two where
 *     its time zone is new.
 */
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
