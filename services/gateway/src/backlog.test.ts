import { describe, expect, it } from "@jest/globals";
import { accept, defaultPlan, type TenantId } from "@posthaste/domain";
import { openEmbedded } from "@posthaste/embedded";
import { type Records, StoreError, type Tenant } from "@posthaste/ports";
import { aMessage, anotherTenant, aTenant } from "@posthaste/testing";
import { openInMemory } from "@posthaste/testing/in-memory";
import { BacklogQuota } from "./quota.ts";

function open() {
  const {
    clock,
    store: { ids, records },
  } = openInMemory(openEmbedded);
  const insert = async (count: number) => {
    const made = Array.from({ length: count }, () => aMessage({ id: ids.next() }));
    await records.insert(
      made.map((message) => ({ record: accept(message, clock.now()) })),
      "new",
    );
    return made.map(({ id }) => id);
  };
  return { clock, insert, records };
}

const atMost = (backlogMax: number, id: TenantId = aTenant): Tenant => ({
  id,
  dialect: "service",
  plan: { ...defaultPlan, backlogMax },
  keys: { current: "sig_1", next: "sig_2" },
});

describe("the backlog quota", () => {
  it("refuses a tenant within a second of having too many messages not yet delivered, and only that one", async () => {
    const { clock, insert, records } = open();
    const quota = new BacklogQuota({ clock, records });
    expect(quota.refuse(atMost(3))).toBeUndefined();
    await insert(3);

    await clock.advance(1_000);
    quota.refuse(atMost(3));
    await clock.advance(1);

    expect(quota.refuse(atMost(3))).toMatchObject({ fault: "too_many_requests" });
    await clock.advance(1_000);
    expect(quota.refuse(atMost(3))).toMatchObject({ fault: "too_many_requests" });
    expect(quota.refuse(atMost(4, anotherTenant))).toBeUndefined();
  });

  it("admits the tenant again within a second of the backlog shrinking", async () => {
    const { clock, insert, records } = open();
    const quota = new BacklogQuota({ clock, records });
    const [first] = await insert(1);
    quota.refuse(atMost(1));
    await clock.advance(1);
    expect(quota.refuse(atMost(1))).toBeDefined();

    await records.cancel(aTenant, first ? [first] : []);
    await clock.advance(1_000);
    quota.refuse(atMost(1));
    await clock.advance(1);

    expect(quota.refuse(atMost(1))).toBeUndefined();
  });

  it("looks once a second and tenant, however many publish", async () => {
    const { clock } = open();
    let looks = 0;
    const backlog: Records["backlog"] = async () => {
      looks += 1;
      return 0;
    };
    const quota = new BacklogQuota({ clock, records: { ...open().records, backlog } });

    for (let i = 0; i < 1_000; i++) quota.refuse(atMost(1));
    await clock.advance(999);
    quota.refuse(atMost(1));
    expect(looks).toBe(1);
    await clock.advance(1);
    quota.refuse(atMost(1));
    quota.refuse(atMost(1, anotherTenant));

    expect(looks).toBe(3);
  });

  it("refuses no publish because the store does not answer: the insert decides", async () => {
    const { clock, insert, records } = open();
    await insert(1);
    const backlog: Records["backlog"] = () =>
      Promise.reject(new StoreError("unavailable", "the store is away"));
    const quota = new BacklogQuota({ clock, records: { ...records, backlog } });

    quota.refuse(atMost(1));
    await clock.advance(1);

    expect(quota.refuse(atMost(1))).toBeUndefined();
  });

  it("holds while a count takes long: messages since the last count are added", async () => {
    const { clock } = open();
    const answers: ((n: number) => void)[] = [];
    const backlog: Records["backlog"] = () => new Promise((resolve) => answers.push(resolve));
    const quota = new BacklogQuota({ clock, records: { backlog } });
    const letIn = (): number =>
      Array.from({ length: 200 }, () => quota.refuse(atMost(100))).filter(
        (refused) => refused === undefined,
      ).length;

    const inFirstSecond = letIn();
    await clock.advance(10_000);
    const afterTen = letIn();
    answers[0]?.(60);
    await clock.advance(1);
    const ofLateCount = letIn();
    answers[1]?.(60);
    await clock.advance(1);
    const ofCount = letIn();
    quota.add(atMost(100), 30);
    await clock.advance(10_000);

    // Messages that come in before the first count may pass the quota; later ones may not.
    expect([inFirstSecond, afterTen]).toEqual([200, 0]);
    expect([ofLateCount, ofCount, letIn()]).toEqual([0, 200, 0]);
  });

  it("continues from the last count when the store does not answer, and adds new messages", async () => {
    const { clock } = open();
    let isAway = false;
    const backlog: Records["backlog"] = () =>
      isAway ? Promise.reject(new StoreError("unavailable", "away")) : Promise.resolve(99);
    const quota = new BacklogQuota({ clock, records: { backlog } });
    quota.refuse(atMost(100));
    await clock.advance(1);
    isAway = true;
    await clock.advance(10_000);

    expect(quota.refuse(atMost(101))).toBeUndefined();
    expect(quota.refuse(atMost(101))).toMatchObject({ fault: "too_many_requests" });
  });

  it("is counted again within a second wherever the clock is set", async () => {
    const { clock } = open();
    let unfinished = 1;
    const quota = new BacklogQuota({ clock, records: { backlog: async () => unfinished } });
    clock.set(172_800_000);
    quota.refuse(atMost(1));
    await clock.advance(1);
    clock.set(-172_800_000);
    unfinished = 0;

    await clock.advance(1_000);
    quota.refuse(atMost(1));
    await clock.advance(1);

    expect(quota.refuse(atMost(1))).toBeUndefined();
  });
});
