import { describe, expect, it } from "@jest/globals";
import { defaultPlan, type Plan, tenantId } from "@posthaste/domain";
import { StoreError, type Tenant } from "@posthaste/ports";
import { recordingLog, virtualClock } from "@posthaste/testing";
import { createRates } from "./rates.ts";

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

  it("are counted for a day of UTC, which tells when it ends", async () => {
    const { clock, rates, spent } = opened();
    await clock.advance(24 * hourMs - (clock.now() % (24 * hourMs)) + hourMs);
    const tenant = aTenantWith({ messagesPerDayMax: 5 });

    expect(await rates.spendMessages(tenant, () => 5)).toBeUndefined();
    expect(await rates.spendMessages(tenant, () => 2)).toEqual({
      fault: "too_many_requests",
      text: "quota maxMessagesPerDay exceeded, current limit: 5",
      rate: { of: "messagesPerDay", limit: 5, left: 0, resetsAt: clock.now() + 23 * hourMs },
    });
    const day = Math.floor(clock.now() / (24 * hourMs));
    expect(spent[0]).toEqual([`day:a:${day}`, 5, 5, 23 * hourMs]);
  });

  it("are given back to the day that they were counted for", async () => {
    const { clock, rates, spent } = opened();
    await rates.giveBackMessages(aTenantWith({}), 3);
    await rates.giveBackMessages(aTenantWith({ messagesPerDayMax: 5 }), 3);

    const day = Math.floor(clock.now() / (24 * hourMs));
    const lastsMs = 24 * hourMs - (clock.now() % (24 * hourMs));
    expect(spent).toEqual([[`day:a:${day}`, -3, Number.MAX_SAFE_INTEGER, lastsMs]]);
  });

  it("are not refused while the token store is away", async () => {
    const { log, rates, store } = opened();
    store.isAway = true;

    expect(
      await rates.spendMessages(aTenantWith({ messagesPerDayMax: 0 }), () => 1),
    ).toBeUndefined();
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
