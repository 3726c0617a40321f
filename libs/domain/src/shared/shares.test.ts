import { describe, expect, it } from "@jest/globals";
import { expectAllGivenBack } from "@posthaste/testing/give-back";
import { Shares } from "./shares.ts";

type Take = readonly [tenant: string, address: string | undefined];

/** Takes a byte for each holder in turn until none may take another, and returns what each has then. */
function filled(shares: Shares, takes: readonly Take[]): readonly number[] {
  const held = takes.map(() => 0);
  for (let isAny = true; isAny;) {
    isAny = false;
    for (const [n, [tenant, address]] of takes.entries()) {
      if (!shares.fit(tenant, address, 1)) continue;
      shares.take(tenant, address, 1);
      held[n] = (held[n] ?? 0) + 1;
      isAny = true;
    }
  }
  return held;
}

describe("shares of bytes", () => {
  it.each<[string, readonly Take[], readonly Take[]]>([
    [
      "two tenants at two addresses",
      [
        ["a", "one"],
        ["b", "two"],
      ],
      [["c", "three"]],
    ],
    [
      "two names of one address",
      [
        ["a", "one"],
        ["a", "one"],
      ],
      [["a", "two"]],
    ],
    ["a tenant at an address", [["a", "one"]], [["b", "one"]]],
    ["a tenant whose addresses are not known", [["a", undefined]], [["b", undefined]]],
    [
      "many tenants at one address",
      [..."abcdefgh"].map((tenant) => [tenant, "one"]),
      [["i", "two"]],
    ],
  ])("of %s leave a part for the next", (_, holders, next) => {
    const shares = new Shares(1_000);
    filled(shares, holders);

    expect(filled(shares, next)[0]).toBeGreaterThan(5);
    expect(shares.held).toBeLessThan(1_000);
  });

  it("are three quarters of the bytes that the others leave; for an address, of the address's bound", () => {
    const shares = new Shares(1_024);

    expect(filled(shares, [["a", "one"]])).toEqual([576]);
    expect(filled(shares, [["a", "two"]])).toEqual([192]);
    expect(filled(shares, [["b", "three"]])).toEqual([144]);
  });

  it("give the first of a holder a place as long as all fit, and the first of all always", () => {
    const shares = new Shares(100);

    expect(shares.fit("a", "one", 1_000)).toBe(true);
    shares.take("a", "one", 70);
    expect(shares.fit("b", "two", 30)).toBe(true);
    expect(shares.fit("b", "two", 31)).toBe(false);
  });

  it("are free again when they are given back, wherever they were located", () => {
    const shares = new Shares(100);
    shares.take("a", undefined, 60);

    expect(shares.fit("b", "one", 20)).toBe(true);
    shares.locate("a", "one", 60);
    expect(shares.fit("b", "one", 20)).toBe(false);
    shares.free("a", "one", 60);
    expect(shares.held).toBe(0);
    expect(shares.fit("a", "one", 1_000)).toBe(true);
  });

  it("that are taken bit by bit are given back once, and then none are taken", () => {
    const shares = new Shares(100);
    const [one, other] = [shares.open("a", "one"), shares.open("a", undefined)];
    expect([one.take(10), one.take(20), one.take(1_000), other.take(5)]).toEqual([
      true,
      true,
      false,
      true,
    ]);

    one.giveBack();
    one.giveBack();

    expect(shares.held).toBe(5);
    expect(one.take(1)).toBe(false);
    other.giveBack();
    expect(filled(shares, [["a", "one"]])).toEqual(filled(new Shares(100), [["a", "one"]]));
  });

  it("are all free again, in whatever order they are given back", async () => {
    await expectAllGivenBack(() => {
      const shares = new Shares(100);
      const bits = (tenant: string, address?: string) => () => {
        const share = shares.open(tenant, address);
        if (!share.take(7)) return undefined;
        share.take(11);
        share.take(3);
        return share;
      };
      const located = (tenant: string) => () => {
        if (!shares.fit(tenant, undefined, 9)) return undefined;
        shares.take(tenant, undefined, 9);
        shares.locate(tenant, "two", 9);
        let isHeld = true;
        const giveBack = () => {
          if (isHeld) shares.free(tenant, "two", 9);
          isHeld = false;
        };
        return { giveBack };
      };
      const takes = [bits("a", "one"), bits("a", "two"), bits("b", "one"), bits("c"), located("a")];
      return { takes, held: () => shares.held };
    });
  });
});
