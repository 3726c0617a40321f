import { describe, expect, it } from "@jest/globals";
import { virtualClock } from "@posthaste/testing";
import { expectAllGivenBack } from "@posthaste/testing/give-back";
import { grownOldIn, passingBytes } from "@posthaste/testing/grown-old";
import { createBodyBudget } from "./body.ts";

const bounds = { bytesMax: 1_000, tenantBytesMax: 150, addressBytesMax: 250 };
const ignore = (): void => undefined;

function open(changed: Partial<typeof bounds> = {}) {
  const clock = virtualClock();
  const budget = createBodyBudget(clock, { ...bounds, ...changed });
  const upload = (tenant: string, address = tenant) => budget.open({ tenant, address }, ignore);
  return { clock, budget, upload };
}

describe("the budget for bodies", () => {
  it("is charged only with the bytes that have arrived", () => {
    const { budget, upload } = open();
    const mine = upload("a");

    expect(budget.taken).toBe(0);
    mine.take(10);
    mine.take(5);
    expect(budget.taken).toBe(15);
    mine.giveBack();
    mine.giveBack();
    expect(budget.taken).toBe(0);
  });

  it("lets one tenant take half and its share of the reserve, and keeps theirs for the others", () => {
    const { upload } = open();
    const mine = upload("a");

    expect(mine.take(500)).toBe(true);
    expect(mine.take(150)).toBe(true);
    expect(mine.take(1)).toBe(false);
    expect(upload("a", "elsewhere").take(1)).toBe(false);
    expect(upload("b").take(150)).toBe(true);
    expect(upload("b").take(1)).toBe(false);
    expect(upload("c").take(150)).toBe(true);
  });

  it("gives an address its share, however many tenants call from it", () => {
    const { upload } = open();
    upload("a").take(500);

    expect(upload("b", "one").take(150)).toBe(true);
    expect(upload("c", "one").take(100)).toBe(true);
    expect(upload("d", "one").take(1)).toBe(false);
    expect(upload("d", "two").take(1)).toBe(true);
  });

  it.each([
    ["two addresses of one /64", "2001:db8:1:2::1", "2001:db8:1:2:ffff::9", false],
    ["two of IPv6 that are not", "2001:db8:1:2::1", "2001:db8:1:3::1", true],
    ["neighbours of IPv4", "192.0.2.1", "192.0.2.2", true],
  ])("gives each holder a share of the rest: %s", (_, one, other, expected) => {
    const { upload } = open();
    upload("a").take(500);
    upload("b", one).take(150);
    upload("c", one).take(100);

    expect(upload("d", other).take(1)).toBe(expected);
  });

  it("is never passed", () => {
    const { budget, upload } = open();
    for (let i = 0; i < 1_000; i++) upload(`t${i}`).take(7);

    expect(budget.taken).toBeLessThanOrEqual(1_000);
    expect(budget.taken).toBeGreaterThan(990);
    expect(budget.hasRoom({ tenant: "new", address: "new" })).toBe(budget.taken < 1_000);
  });

  it("by default holds another tenant's longest body when one stalls thirteen of them", () => {
    const budget = createBodyBudget(virtualClock());
    const tenMiB = 10 * 1024 * 1024;
    const upload = (tenant: string) => budget.open({ tenant, address: "one proxy" }, ignore);
    for (let i = 0; i < 13; i++) upload("a").take(tenMiB - 1);

    expect(upload("b").take(tenMiB)).toBe(true);
  });
});

describe("an upload", () => {
  it("that stops sending is refused within two checks; one that arrived is left alone", async () => {
    const { budget, clock } = open();
    let slow = 0;
    const owner = { tenant: "a", address: "a" };
    const stalled = budget.open(owner, () => slow++);
    const arrived = budget.open(owner, () => slow++);
    const silent = budget.open(owner, () => slow++);
    stalled.take(100);
    arrived.take(100);
    arrived.arrived();

    await clock.advance(9_999);
    expect(slow).toBe(0);
    await clock.advance(1);
    expect(slow).toBe(2);
    await clock.advance(60_000);
    expect(slow).toBe(2);
    for (const upload of [stalled, arrived, silent]) upload.giveBack();
    expect(budget.taken).toBe(0);
  });

  it.each([
    ["little, may send a byte now and then", 30, 1, 0],
    ["much, may not", 10_000, 1, 1],
    ["much, and goes on, may take its time", 10_000, 400, 0],
  ])("that holds %s", async (_, held, perLook, told) => {
    const { budget, clock } = open({ bytesMax: 1_000_000 });
    let slow = 0;
    const upload = budget.open({ tenant: "a", address: "a" }, () => slow++);
    upload.take(held);
    for (let look = 0; look < 6; look++) {
      await clock.advance(5_000);
      upload.take(perLook);
    }

    expect(slow).toBe(told);
  });

  it("that has ended leaves no timer behind", async () => {
    const { budget, clock } = open();
    budget.open({ tenant: "a", address: "a" }, ignore).giveBack();

    await clock.advance(5_000);

    expect(clock.armed).toBe(0);
  });
});

describe("memory taken by uploads", () => {
  it("is all free again, the reserve included, in whichever order it is given back", async () => {
    const owners = [
      ["a", "one"],
      ["b", "one"],
      ["c", "two"],
    ] as const;
    await expectAllGivenBack(() => {
      const { budget, upload } = open();
      const takes = owners.flatMap(([tenant, address]) =>
        [10, 90, 400].map((bytes) => () => {
          const each = upload(tenant, address);
          const isTaken = [each.take(bytes), each.take(bytes)];
          if (bytes > 10) each.arrived();
          if (isTaken.includes(true)) return each;
          each.giveBack();
          return undefined;
        }),
      );
      return { takes, held: () => budget.taken };
    });
  });

  it("is not taken again once it was given back, whatever still arrives", () => {
    const { budget, upload } = open();
    const each = upload("a");
    each.take(10);
    each.giveBack();

    expect([each.take(10), budget.taken]).toEqual([false, 0]);
  });
});

it("lets a request whose body has arrived go with the young generation", () => {
  const { budget } = open();
  const grown = grownOldIn((request) => {
    const upload = budget.open({ tenant: "a", address: "a" }, () => void request);
    return () => upload.arrived();
  });

  expect(grown).toBeLessThan(passingBytes / 50);
});
