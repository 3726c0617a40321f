import { describe, expect, it } from "@jest/globals";
import { parseSchedule } from "@posthaste/contract";
import { defaultPlan, isFault, type Plan, tenantId } from "@posthaste/domain";
import { type RetryDelays, StoreError, type Tenant } from "@posthaste/ports";
import { recordingLog, virtualClock } from "@posthaste/testing";
import { createContextOf } from "./parse-context.ts";
import { createRates } from "./quota.ts";

const hourMs = 3_600_000;
const aTenantWith = (limits: Partial<Plan>, id = "a"): Tenant => ({
  id: tenantId(id),
  plan: { ...defaultPlan, ...limits },
  dialect: "service",
  keys: { current: "sig_1", next: "sig_2" },
});

function opened() {
  const clock = virtualClock();
  const log = recordingLog();
  const spent: unknown[] = [];
  const store = { left: 5, isAway: false };
  const spend = async (...given: readonly unknown[]) => {
    spent.push(given);
    if (store.isAway) throw new StoreError("unavailable", "away");
    store.left -= Number(given[1]);
    return { isWithin: store.left >= 0, left: Math.max(0, store.left) };
  };
  return { clock, log, spent, store, rates: createRates({ tokens: { spend }, clock, log }) };
}

describe("messages of a day", () => {
  it("are not counted for a tenant without a quota", () => {
    const { rates, spent } = opened();

    expect(rates.spendMessages(aTenantWith({}), () => 1)).toBeUndefined();
    expect(spent).toEqual([]);
  });

  it("are counted for a day of UTC, and the refusal has the time of its end", async () => {
    const { clock, rates, spent } = opened();
    await clock.advance(24 * hourMs - (clock.now() % (24 * hourMs)) + hourMs);
    const tenant = aTenantWith({ messagesPerDayMax: 5 });

    expect(isFault(await rates.spendMessages(tenant, () => 5))).toBe(false);
    expect(await rates.spendMessages(tenant, () => 2)).toEqual({
      fault: "too_many_requests",
      text: "quota maxMessagesPerDay exceeded, current limit: 5",
      rate: { of: "messagesPerDay", limit: 5, left: 0, resetsAt: clock.now() + 23 * hourMs },
    });
    const day = Math.floor(clock.now() / (24 * hourMs));
    expect(spent[0]).toEqual([`day:a:${day}`, 5, 5, 23 * hourMs]);
  });

  it("are given back to the day that they were counted for, also when that has ended", async () => {
    const { clock, rates, spent } = opened();
    await clock.advance(24 * hourMs - (clock.now() % (24 * hourMs)) + 23 * hourMs);
    const day = Math.floor(clock.now() / (24 * hourMs));
    const giveBack = await rates.spendMessages(aTenantWith({ messagesPerDayMax: 5 }), () => 3);
    if (giveBack === undefined || isFault(giveBack)) throw new Error("there is room");

    await clock.advance(2 * hourMs);
    await giveBack();

    expect(spent).toEqual([
      [`day:a:${day}`, 3, 5, hourMs],
      [`day:a:${day}`, -3, Number.MAX_SAFE_INTEGER, 1_000],
    ]);
  });

  it("are not refused while the token store is away", async () => {
    const { log, rates, store } = opened();
    store.isAway = true;

    const spent = await rates.spendMessages(aTenantWith({ messagesPerDayMax: 0 }), () => 1);
    expect(isFault(spent)).toBe(false);
    expect(log.lines.map(({ event }) => event)).toEqual(["quota.uncounted"]);
  });
});

describe("lists of a second", () => {
  it("are refused beyond the quota, each tenant's for itself, until the next second", async () => {
    const { clock, rates } = opened();
    await clock.advance(1_000 - (clock.now() % 1_000));
    const [tenant, other] = [
      aTenantWith({ listsPerSecondMax: 2 }),
      aTenantWith({ listsPerSecondMax: 2 }, "b"),
    ];

    expect([rates.spendList(tenant), rates.spendList(tenant)]).toEqual([undefined, undefined]);
    expect(rates.spendList(tenant)?.rate).toEqual({
      of: "listsPerSecond",
      limit: 2,
      left: 0,
      resetsAt: clock.now() + 1_000,
    });
    expect(rates.spendList(other)).toBeUndefined();
    await clock.advance(1_000);
    expect(rates.spendList(tenant)).toBeUndefined();
  });
});

describe("requests counted in a second", () => {
  it("is counted anew in the next, wherever the clock is set meanwhile", async () => {
    const { clock, rates } = opened();
    const tenant = aTenantWith({ listsPerSecondMax: 1 });
    clock.set(48 * hourMs);
    rates.spendList(tenant);
    clock.set(-48 * hourMs);

    const refused = rates.spendList(tenant);
    await clock.advance(1_000);

    expect(refused?.rate?.resetsAt).toBeLessThanOrEqual(clock.now());
    expect(rates.spendList(tenant)).toBeUndefined();
  });
});

describe("new expressions of retry delays", () => {
  it("are at most two hundred of a tenant in a second, independently of other tenants", async () => {
    const { clock, rates } = opened();
    await clock.advance(1_000 - (clock.now() % 1_000));
    const spend = (tenant: string, times: number) =>
      Array.from({ length: times }, () =>
        rates.spendExpression(tenantId(tenant), "Retry-Delay"),
      ).filter((refused) => refused !== undefined);

    expect(spend("a", 200)).toEqual([]);
    expect(spend("a", 300)).toHaveLength(300);
    expect(spend("a", 1)[0]).toMatchObject({ fault: "too_many_requests" });
    expect(spend("b", 200)).toEqual([]);
    await clock.advance(1_000);
    expect(spend("a", 201)).toHaveLength(1);
  });

  it("are refused to their tenant alone, and known ones to no tenant", () => {
    const { clock, rates } = opened();
    const known = new Set<string>();
    const delays: RetryDelays = {
      check: (text, _retriesMax, _field, spend) => {
        const refused = known.has(text) ? undefined : spend?.();
        if (!refused) known.add(text);
        return refused;
      },
      delayMs: () => 0,
    };
    const readUrl = (given: string) => given;
    const parts = {
      clock,
      retryDelays: delays,
      readUrl,
      log: recordingLog(),
      llmUrl: undefined,
      rates,
    };
    const contextOf = createContextOf(parts);
    const [flooding, other] = ["a", "b"].map((id) => contextOf(aTenantWith({}, id), ""));
    const check = (context: typeof other, text: string) =>
      context?.checkRetryDelay(text, 3, "Retry-Delay")?.fault;

    check(other, "5*retried");
    const answers = Array.from({ length: 1_000 }, (_, n) => check(flooding, `${n}*retried + 1`));

    expect(answers.filter((refused) => refused === "too_many_requests")).toHaveLength(800);
    expect(known.size).toBe(201);
    expect(check(flooding, "5*retried")).toBeUndefined();
    expect(check(other, "6*retried")).toBeUndefined();
  });
});

describe("new expressions of schedules", () => {
  it("are refused to their tenant alone by the same count, zones and invalid expressions included, and known ones to no tenant", () => {
    const { clock, rates } = opened();
    const contextOf = createContextOf({
      clock,
      retryDelays: { check: () => undefined, delayMs: () => 0 },
      readUrl: (given: string) => given,
      log: recordingLog(),
      llmUrl: undefined,
      rates,
    });
    const asked = (tenant: string, cron: string) => {
      const parsed = parseSchedule({
        ...contextOf(aTenantWith({}, tenant), ""),
        rawHeaders: ["Service-Cron", cron],
        queryConfig: [],
        destination: { kind: "url", url: "https://example.com/" },
        body: new Uint8Array(),
      });
      return isFault(parsed) ? parsed : undefined;
    };

    expect(asked("other", "7 7 * * *")).toBeUndefined();
    const answers = Array.from({ length: 300 }, (_, n) => [
      asked("flooding", `${n % 60} ${n % 24} ${1 + (n % 28)} 7 *`)?.fault,
      asked("flooding", `CRON_TZ=Mars/Olympus_${n} * * * * *`)?.fault,
    ]).flat();

    expect(Object.entries(Object.groupBy(answers, String)).map(([k, v]) => [k, v?.length])).toEqual(
      [
        ["undefined", 100],
        ["malformed", 100],
        ["too_many_requests", 400],
      ],
    );
    expect(asked("flooding", "8 8 * * *")).toMatchObject({
      text: "Service-Cron: at most 200 new expressions a second",
    });
    expect(asked("flooding", "7 7 * * *")).toBeUndefined();
    expect(asked("other", "CRON_TZ=Asia/Tokyo 7 7 * * *")).toBeUndefined();
  });
});
