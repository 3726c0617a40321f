import { describe, expect, it } from "@jest/globals";
import { messageId, tenantId } from "@posthaste/domain";
import { type Hint } from "@posthaste/ports";
import { HintBuffer, type Room } from "./buffer.ts";

const hint = (id: string, tenant = "a", origin = 1): Hint => ({
  id: messageId(id),
  tenant: tenantId(tenant),
  origin,
  epoch: 0,
  bytes: 0,
});
const bounds = { perOriginMin: 1, perOriginMax: 3, totalMax: 100, askAgainAfter: 3 };
const roomFor = (isFree: (hint: Hint) => boolean): Room => ({ isFreeFor: () => true, isFree });
const always = roomFor(() => true);
const never = roomFor(() => false);

const a = tenantId("a");
const drained = (buffer: HintBuffer) => buffer.drained(always, 100, new Set());

function fail(): never {
  throw new Error("nothing is to be asked");
}

function takeAll(buffer: HintBuffer, isFree?: (hint: Hint) => boolean): string[] {
  const room = isFree ? roomFor(isFree) : always;
  const ids: string[] = [];
  for (let next = buffer.take(room); next; next = buffer.take(room)) ids.push(next.id);
  return ids;
}

describe("the buffer of hints", () => {
  it("takes tenants in turn, so that one with many hints does not hold up another", () => {
    const buffer = new HintBuffer(bounds);
    for (const id of ["a1", "a2", "a3"]) buffer.add(hint(id, "a"));
    buffer.add(hint("b1", "b"));

    expect(takeAll(buffer)).toEqual(["a1", "b1", "a2", "a3"]);
  });

  it("has all its places again when all was taken or given away", () => {
    const buffer = new HintBuffer({ ...bounds, perOriginMax: 100 });
    const fill = (): number => {
      for (let n = 0; n < 200; n++) buffer.add(hint(`${n}`, `${n % 3}`, n % 2));
      return buffer.size;
    };
    const all = fill();
    const taken = [takeAll(buffer).length, buffer.size];
    const given = [fill(), buffer.giveAll().length, buffer.size];

    expect(all).toBeGreaterThan(50);
    expect([taken, given, fill()]).toEqual([[all, 0], [all, all, 0], all]);
  });

  it("takes the origins of a tenant in turn", () => {
    const buffer = new HintBuffer(bounds);
    for (const id of ["x1", "x2"]) buffer.add(hint(id, "a", 1));
    buffer.add(hint("y1", "a", 2));

    expect(takeAll(buffer)).toEqual(["x1", "y1", "x2"]);
  });

  it("passes over an origin without a free slot, until it is told of one", () => {
    const buffer = new HintBuffer(bounds);
    buffer.add(hint("x1", "a", 1));
    buffer.add(hint("y1", "a", 2));

    expect(takeAll(buffer, ({ origin }) => origin !== 1)).toEqual(["y1"]);
    expect(takeAll(buffer)).toEqual([]);
    buffer.unblock(a, 1);
    expect(takeAll(buffer)).toEqual(["x1"]);
  });

  it("drops what does not fit and remembers whose it was until a pull has answered", () => {
    const buffer = new HintBuffer(bounds);
    for (const id of ["a1", "a2", "a3", "a4"]) buffer.add(hint(id));

    expect(buffer.size).toBe(3);
    expect(drained(buffer)).toEqual([]);
    expect(takeAll(buffer)).toEqual(["a1", "a2", "a3"]);
    const [asked = fail()] = drained(buffer);
    expect(asked).toEqual({ tenant: "a", except: [], known: new Set() });
    buffer.pulled(asked, [hint("a4")], false);
    expect(takeAll(buffer)).toEqual(["a4"]);
    expect(buffer.anyDropped).toBe(false);
  });

  it("counts a tenant as run dry although a full origin of its own still has hints", () => {
    const buffer = new HintBuffer(bounds);
    for (const id of ["x1", "x2", "x3", "x4"]) buffer.add(hint(id, "a", 1));
    buffer.take(never);

    expect(drained(buffer)).toMatchObject([{ tenant: "a", except: [1] }]);
  });

  it("pulls an origin's dropped hints once it has run dry, however often the others were pulled meanwhile", () => {
    const buffer = new HintBuffer(bounds);
    for (const id of ["x1", "x2", "x3", "x4"]) buffer.add(hint(id, "a", 1));
    buffer.take(never);
    const [others = fail()] = drained(buffer);
    buffer.pulled(others, [], false);

    expect(drained(buffer)).toEqual([]);
    buffer.unblock(a, 1);
    expect(takeAll(buffer)).toEqual(["x1", "x2", "x3"]);
    expect(drained(buffer)).toMatchObject([{ tenant: "a", except: [] }]);
  });

  it("pulls what a line has dropped while newcomers keep it going, beside what the line holds and what others do", () => {
    const buffer = new HintBuffer(bounds);
    buffer.add(hint("other", "a", 2));
    for (const id of ["x1", "x2", "x3", "dropped"]) buffer.add(hint(id));
    const onlyFirst = roomFor(({ origin }) => origin === 1);
    for (const id of ["n1", "n2", "n3"]) {
      expect(buffer.anyOverdue).toBe(false);
      buffer.take(onlyFirst);
      buffer.add(hint(id));
    }

    expect(buffer.anyOverdue).toBe(true);
    const [asked = fail()] = drained(buffer);
    expect(asked).toEqual({ tenant: "a", except: [2], known: new Set(["n1", "n2", "n3"]) });
    expect(buffer.anyOverdue).toBe(false);
    expect(buffer.pulled(asked, [hint("dropped"), hint("n1")], false)).toBe(1);
    buffer.add(hint("late"));
    expect(takeAll(buffer, ({ origin }) => origin === 1)).toEqual(["n1", "n2", "n3", "dropped"]);
  });

  it("goes on asking for what a pull has not seen, since it was dropped meanwhile", () => {
    const buffer = new HintBuffer(bounds);
    for (const id of ["x1", "x2", "x3", "x4"]) buffer.add(hint(id));
    takeAll(buffer);
    const [asked = fail()] = drained(buffer);
    for (const id of ["y1", "y2", "y3", "y4"]) buffer.add(hint(id));
    buffer.pulled(asked, [hint("x4")], false);
    takeAll(buffer);

    expect(drained(buffer)).toMatchObject([{ tenant: "a", except: [] }]);
  });

  it("has room for a tenant however many hints another one has, to however many origins", () => {
    const buffer = new HintBuffer(bounds);
    for (let n = 0; n < 1_000; n++) buffer.add(hint(`a${n}`, "a", n));
    for (let n = 0; n < 3; n++) buffer.add(hint(`b${n}`, "b", n));

    expect(buffer.size).toBe(75 + 3);
  });

  it("has places for an origin however many hints blocked ones of its tenant have, and pulls what these gave up", () => {
    const buffer = new HintBuffer({ ...bounds, perOriginMin: 5, perOriginMax: 40 });
    for (let n = 0; n < 80; n++) buffer.add(hint(`slow ${n}`, "a", n % 2));
    buffer.take(never);
    for (let n = 0; n < 6; n++) buffer.add(hint(`healthy ${n}`, "a", 2));

    expect(buffer.size).toBe(75);
    expect(takeAll(buffer, ({ origin }) => origin === 2)).toEqual(
      Array.from({ length: 5 }, (_, n) => `healthy ${n}`),
    );
    expect(drained(buffer)).toMatchObject([{ tenant: "a", except: [0, 1] }]);
    buffer.unblock(a, 0);
    buffer.unblock(a, 1);
    expect(takeAll(buffer)).toHaveLength(70);
    expect(drained(buffer)).toMatchObject([{ tenant: "a", except: [] }]);
  });

  it("takes an origin's claimed messages and hints in turns, also when one of both lines is new each time", () => {
    const buffer = new HintBuffer({ ...bounds, perOriginMax: 10 });
    for (let n = 0; n < 4; n++) buffer.add(hint(`hint ${n}`));
    const taken: (string | undefined)[] = [];
    for (let n = 0; n < 3; n++) {
      buffer.addClaimed(hint(`claimed ${n}`));
      buffer.take(never);
      for (let slots = 0; slots < 2; slots++) {
        buffer.unblock(a, 1);
        taken.push(buffer.take(always)?.id);
        buffer.take(never);
      }
    }

    expect(taken).toEqual(["hint 0", "claimed 0", "hint 1", "claimed 1", "hint 2", "claimed 2"]);
  });

  it("pulls dropped hints while claimed messages of their origin go on waiting, and asks about none of these", () => {
    const buffer = new HintBuffer({ ...bounds, askAgainAfter: 100 });
    for (const id of ["x1", "x2", "x3", "dropped"]) buffer.add(hint(id));
    for (let n = 0; n < 5; n++) buffer.addClaimed(hint(`claimed ${n}`));
    const taken = Array.from({ length: 6 }, () => buffer.take(always)?.id);

    expect(taken).toEqual(["x1", "claimed 0", "x2", "claimed 1", "x3", "claimed 2"]);
    const [asked = fail()] = drained(buffer);
    expect(asked).toEqual({ tenant: "a", except: [], known: new Set() });
    buffer.pulled(asked, [hint("dropped")], false);
    expect(takeAll(buffer)).toEqual(["claimed 3", "dropped", "claimed 4"]);
  });

  it("passes over a tenant without a free slot, and leaves its hints where they are", () => {
    const buffer = new HintBuffer(bounds);
    buffer.add(hint("a1", "a"));
    buffer.add(hint("b1", "b"));
    const room = { ...always, isFreeFor: (tenant: string) => tenant !== "a" };

    expect([buffer.take(room)?.id, buffer.take(room)?.id]).toEqual(["b1", undefined]);
    expect([room, always].map(({ isFreeFor }) => buffer.anyReady(isFreeFor))).toEqual([
      false,
      true,
    ]);
    expect(takeAll(buffer)).toEqual(["a1"]);
  });

  it("answers whether a hint may be taken without a look at its line, and of few tenants", () => {
    const buffer = new HintBuffer({ ...bounds, totalMax: 10_000 });
    for (let n = 0; n < 1_000; n++) buffer.add(hint(`${n}`, `tenant ${n}`, n));
    let looks = 0;
    const isFreeFor = (): boolean => (looks++, false);

    expect(buffer.anyReady(isFreeFor)).toBe(true);
    expect(looks).toBeLessThanOrEqual(256);
    expect(takeAll(buffer)).toHaveLength(1_000);
    for (let n = 0; n < 1_000; n++) buffer.add(hint(`${n}`, `tenant ${n}`, n));
    while (buffer.anyReady(() => true)) buffer.take(never);
    looks = 0;

    expect(buffer.anyReady(isFreeFor)).toBe(false);
    expect(looks).toBe(0);
  });

  it("looks at few tenants for one that may have a slot, each time at others", () => {
    const buffer = new HintBuffer({ ...bounds, totalMax: 10_000 });
    for (let n = 0; n < 1_000; n++) buffer.add(hint(`${n}`, `tenant ${n}`, n));
    let looks = 0;
    const room = {
      isFree: () => true,
      isFreeFor: (tenant: string) => (looks++, tenant === "tenant 999"),
    };
    const taken = Array.from({ length: 4 }, () => buffer.take(room)?.id);

    expect(taken).toEqual([undefined, undefined, undefined, "999"]);
    expect(looks).toBe(1_000);
  });

  it("lets few tenants look at an origin that has a slot again, first its own, each time others", () => {
    const buffer = new HintBuffer({ ...bounds, totalMax: 10_000 });
    for (let n = 0; n < 100; n++) buffer.add(hint(`${n}`, `tenant ${n}`, 1));
    takeAll(buffer, () => false);
    const looked: string[] = [];
    for (let turns = 0; turns < 6; turns++) {
      buffer.unblock(tenantId("tenant 50"), 1);
      takeAll(buffer, ({ id }) => (looked.push(id), false));
    }

    expect(looked.slice(0, 17).includes("50")).toBe(true);
    expect(looked).toHaveLength(6 * 17);
    expect(new Set(looked).size).toBeGreaterThan(90);
  });

  it("pulls for tenants of whom something was dropped before those that may have something", () => {
    const buffer = new HintBuffer(bounds);
    for (const name of ["x", "y"]) buffer.expect(tenantId(name));
    for (const id of ["a1", "a2", "a3", "a4"]) buffer.add(hint(id));
    takeAll(buffer);

    expect(buffer.drained(always, 2, new Set()).map(({ tenant }) => tenant)).toEqual(["a", "x"]);
    expect(buffer.drained(always, 9, new Set([a]))).toMatchObject([
      { tenant: "x" },
      { tenant: "y" },
    ]);
  });

  it("looks at some of those that were blocked again, each time at others", () => {
    const buffer = new HintBuffer({ ...bounds, totalMax: 2_000 });
    for (let origin = 0; origin < 600; origin++) buffer.add(hint(`${origin}`, "a", origin));
    buffer.take(never);
    const isLast = ({ origin }: Hint): boolean => origin === 599;

    const taken: string[] = [];
    for (let turns = 0; turns < 3; turns++) {
      buffer.unblockSome();
      taken.push(...takeAll(buffer, isLast));
    }

    expect(taken).toEqual(["599"]);
  });

  it("knows what is in line, so that a newcomer does not overtake", () => {
    const buffer = new HintBuffer(bounds);
    buffer.add(hint("x1", "a", 1));

    expect(buffer.hasWaiting(tenantId("a"), 1, 0)).toBe(true);
    expect(buffer.hasWaiting(tenantId("a"), 2, 0)).toBe(false);
    expect(buffer.hasWaiting(tenantId("b"), 1, 0)).toBe(false);
  });
});

describe("heavy messages in the buffer", () => {
  const heavy = (id: string, origin = 1): Hint => ({ ...hint(id, "a", origin), bytes: 1_000_000 });
  const isLight = ({ bytes }: Hint): boolean => bytes === 0;

  it("stand in a line of their own: while they wait for bytes, light ones to their origin go on", () => {
    const buffer = new HintBuffer(bounds);
    for (const each of [heavy("h1"), heavy("h2"), hint("l1"), hint("l2")]) buffer.add(each);

    expect(takeAll(buffer, isLight)).toEqual(["l1", "l2"]);
    expect(buffer.hasWaiting(tenantId("a"), 1, 1_000_000)).toBe(true);
    expect(buffer.hasWaiting(tenantId("a"), 1, 0)).toBe(false);
    buffer.unblock(a, 1);
    expect(takeAll(buffer)).toEqual(["h1", "h2"]);
  });

  it("have another look when bytes become free, some at a time, and all when nothing is left to free any", () => {
    const buffer = new HintBuffer(bounds);
    for (let origin = 0; origin < 40; origin++) buffer.add(heavy(`h${origin}`, origin));
    const looks: number[] = [];
    for (const all of [false, false, true]) {
      let looked = 0;
      buffer.unblockHeavy(all);
      takeAll(buffer, () => {
        looked += 1;
        return false;
      });
      looks.push(looked);
    }

    expect(looks).toEqual([40, 16, 40]);
  });

  it("that were dropped are asked of the store by their origin", () => {
    const buffer = new HintBuffer(bounds);
    for (let n = 0; n < 4; n++) buffer.add(heavy(`h${n}`, 7));
    buffer.take(never);

    expect(drained(buffer)).toMatchObject([{ tenant: "a", except: [7] }]);
  });
});
