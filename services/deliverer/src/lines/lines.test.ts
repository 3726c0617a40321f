import { describe, expect, it } from "@jest/globals";
import { messageId, tenantId } from "@posthaste/domain";
import { type Hint } from "@posthaste/ports";
import { aClaimedRecord, virtualClock } from "@posthaste/testing";
import { type Attempt, newAttempt } from "../attempts/attempt.ts";
import { Lines, type Vacancy } from "./lines.ts";
import { isClaimed } from "./tenant-lines.ts";

const hint = (id: string, tenant = "a", origin = 1): Hint => ({
  id: messageId(id),
  tenant: tenantId(tenant),
  origin,
  epoch: 0,
  bytes: 0,
});
const bounds = { perOriginMin: 1, perOriginMax: 3, totalMax: 100, askAgainAfter: 3 };
const ignore = (): void => undefined;
const roomFor = (isFree: Vacancy["isFree"]): Vacancy => ({ isFreeFor: () => true, isFree });
const always = roomFor(() => true);
const never = roomFor(() => false);

const claimed = (id: string): Attempt<"waiting"> =>
  newAttempt(aClaimedRecord({ id: messageId(id), tenant: a }), 1, 0, virtualClock());
const idOf = (next: ReturnType<Lines["take"]>): string | undefined =>
  next && (isClaimed(next) ? next.record.message.id : next.id);

const a = tenantId("a");
const drained = (lines: Lines) => lines.drained(always, 100, new Set());

function fail(): never {
  throw new Error("nothing is to be asked");
}

function takeAll(lines: Lines, isFree?: Vacancy["isFree"]): (string | undefined)[] {
  const room = isFree ? roomFor(isFree) : always;
  const ids: (string | undefined)[] = [];
  for (let next = lines.take(room); next; next = lines.take(room)) ids.push(idOf(next));
  return ids;
}

describe("the lines of waiting messages", () => {
  it("takes tenants in turn, so that one with many hints does not hold up another", () => {
    const lines = new Lines(ignore, bounds);
    for (const id of ["a1", "a2", "a3"]) lines.add(hint(id, "a"));
    lines.add(hint("b1", "b"));

    expect(takeAll(lines)).toEqual(["a1", "b1", "a2", "a3"]);
  });

  it("has all its places again when all was taken or given away", () => {
    const lines = new Lines(ignore, { ...bounds, perOriginMax: 100 });
    const fill = (): number => {
      for (let n = 0; n < 200; n++) lines.add(hint(`${n}`, `${n % 3}`, n % 2));
      return lines.size;
    };
    const all = fill();
    const taken = [takeAll(lines).length, lines.size];
    const given = [fill(), lines.giveAll().length, lines.size];

    expect(all).toBeGreaterThan(50);
    expect([taken, given, fill()]).toEqual([[all, 0], [all, all, 0], all]);
  });

  it("takes the origins of a tenant in turn", () => {
    const lines = new Lines(ignore, bounds);
    for (const id of ["x1", "x2"]) lines.add(hint(id, "a", 1));
    lines.add(hint("y1", "a", 2));

    expect(takeAll(lines)).toEqual(["x1", "y1", "x2"]);
  });

  it("passes over an origin without a free slot, until one is free", () => {
    const lines = new Lines(ignore, bounds);
    lines.add(hint("x1", "a", 1));
    lines.add(hint("y1", "a", 2));

    expect(takeAll(lines, ({ origin }) => origin !== 1)).toEqual(["y1"]);
    expect(takeAll(lines)).toEqual([]);
    lines.unblock(a, 1);
    expect(takeAll(lines)).toEqual(["x1"]);
  });

  it("drops hints that do not fit and remembers their tenants until a pull has answered", () => {
    const lines = new Lines(ignore, bounds);
    for (const id of ["a1", "a2", "a3", "a4"]) lines.add(hint(id));

    expect(lines.size).toBe(3);
    expect(drained(lines)).toEqual([]);
    expect(takeAll(lines)).toEqual(["a1", "a2", "a3"]);
    const [asked = fail()] = drained(lines);
    expect(asked).toEqual({ tenant: "a", except: [], known: new Set() });
    lines.pulled(asked, [hint("a4")], false);
    expect(takeAll(lines)).toEqual(["a4"]);
    expect(lines.anyDropped).toBe(false);
  });

  it("counts a tenant as run dry although a full origin of its own still has hints", () => {
    const lines = new Lines(ignore, bounds);
    for (const id of ["x1", "x2", "x3", "x4"]) lines.add(hint(id, "a", 1));
    lines.take(never);

    expect(drained(lines)).toMatchObject([{ tenant: "a", except: [1] }]);
  });

  it("pulls an origin's dropped hints once it has run dry, however often the others were pulled meanwhile", () => {
    const lines = new Lines(ignore, bounds);
    for (const id of ["x1", "x2", "x3", "x4"]) lines.add(hint(id, "a", 1));
    lines.take(never);
    const [others = fail()] = drained(lines);
    lines.pulled(others, [], false);

    expect(drained(lines)).toEqual([]);
    lines.unblock(a, 1);
    expect(takeAll(lines)).toEqual(["x1", "x2", "x3"]);
    expect(drained(lines)).toMatchObject([{ tenant: "a", except: [] }]);
  });

  it("pulls the hints that a line has dropped while newcomers keep it busy, beside the hints of the line and of others", () => {
    const lines = new Lines(ignore, bounds);
    lines.add(hint("other", "a", 2));
    for (const id of ["x1", "x2", "x3", "dropped"]) lines.add(hint(id));
    const onlyFirst = roomFor(({ origin }) => origin === 1);
    for (const id of ["n1", "n2", "n3"]) {
      expect(lines.anyOverdue).toBe(false);
      lines.take(onlyFirst);
      lines.add(hint(id));
    }

    expect(lines.anyOverdue).toBe(true);
    const [asked = fail()] = drained(lines);
    expect(asked).toEqual({ tenant: "a", except: [2], known: new Set(["n1", "n2", "n3"]) });
    expect(lines.anyOverdue).toBe(false);
    expect(lines.pulled(asked, [hint("dropped"), hint("n1")], false)).toBe(1);
    lines.add(hint("late"));
    expect(takeAll(lines, ({ origin }) => origin === 1)).toEqual(["n1", "n2", "n3", "dropped"]);
  });

  it("keeps asking for hints dropped during a pull, which the pull has not seen", () => {
    const lines = new Lines(ignore, bounds);
    for (const id of ["x1", "x2", "x3", "x4"]) lines.add(hint(id));
    takeAll(lines);
    const [asked = fail()] = drained(lines);
    for (const id of ["y1", "y2", "y3", "y4"]) lines.add(hint(id));
    lines.pulled(asked, [hint("x4")], false);
    takeAll(lines);

    expect(drained(lines)).toMatchObject([{ tenant: "a", except: [] }]);
  });

  it("has room for a tenant however many hints another one has, to however many origins", () => {
    const lines = new Lines(ignore, bounds);
    for (let n = 0; n < 1_000; n++) lines.add(hint(`a${n}`, "a", n));
    for (let n = 0; n < 3; n++) lines.add(hint(`b${n}`, "b", n));

    expect(lines.size).toBe(75 + 3);
  });

  it("has places for an origin however many hints blocked origins of its tenant have, and pulls the hints that these gave up", () => {
    const lines = new Lines(ignore, { ...bounds, perOriginMin: 5, perOriginMax: 40 });
    for (let n = 0; n < 80; n++) lines.add(hint(`slow ${n}`, "a", n % 2));
    lines.take(never);
    for (let n = 0; n < 6; n++) lines.add(hint(`healthy ${n}`, "a", 2));

    expect(lines.size).toBe(75);
    expect(takeAll(lines, ({ origin }) => origin === 2)).toEqual(
      Array.from({ length: 5 }, (_, n) => `healthy ${n}`),
    );
    expect(drained(lines)).toMatchObject([{ tenant: "a", except: [0, 1] }]);
    lines.unblock(a, 0);
    lines.unblock(a, 1);
    expect(takeAll(lines)).toHaveLength(70);
    expect(drained(lines)).toMatchObject([{ tenant: "a", except: [] }]);
  });

  it("takes an origin's claimed messages and hints in turns, also when one of both lines is new each time", () => {
    const lines = new Lines(ignore, { ...bounds, perOriginMax: 10 });
    for (let n = 0; n < 4; n++) lines.add(hint(`hint ${n}`));
    const taken: (string | undefined)[] = [];
    for (let n = 0; n < 3; n++) {
      lines.addClaimed(claimed(`claimed ${n}`));
      lines.take(never);
      for (let slots = 0; slots < 2; slots++) {
        lines.unblock(a, 1);
        taken.push(idOf(lines.take(always)));
        lines.take(never);
      }
    }

    expect(taken).toEqual(["hint 0", "claimed 0", "hint 1", "claimed 1", "hint 2", "claimed 2"]);
  });

  it("pulls dropped hints while claimed messages of their origin keep waiting, and does not ask for these", () => {
    const lines = new Lines(ignore, { ...bounds, askAgainAfter: 100 });
    for (const id of ["x1", "x2", "x3", "dropped"]) lines.add(hint(id));
    for (let n = 0; n < 5; n++) lines.addClaimed(claimed(`claimed ${n}`));
    const taken = Array.from({ length: 6 }, () => idOf(lines.take(always)));

    expect(taken).toEqual(["x1", "claimed 0", "x2", "claimed 1", "x3", "claimed 2"]);
    const [asked = fail()] = drained(lines);
    expect(asked).toEqual({ tenant: "a", except: [], known: new Set() });
    lines.pulled(asked, [hint("dropped")], false);
    expect(takeAll(lines)).toEqual(["claimed 3", "dropped", "claimed 4"]);
  });

  it("passes over a tenant without a free slot, and leaves its hints where they are", () => {
    const lines = new Lines(ignore, bounds);
    lines.add(hint("a1", "a"));
    lines.add(hint("b1", "b"));
    const room = { ...always, isFreeFor: (tenant: string) => tenant !== "a" };

    expect([1, 2].map(() => idOf(lines.take(room)))).toEqual(["b1", undefined]);
    expect([room, always].map((each) => lines.anyReady(each))).toEqual([false, true]);
    expect(takeAll(lines)).toEqual(["a1"]);
  });

  it("answers whether a hint may be taken without a look at its line, and of few tenants", () => {
    const lines = new Lines(ignore, { ...bounds, totalMax: 10_000 });
    for (let n = 0; n < 1_000; n++) lines.add(hint(`${n}`, `tenant ${n}`, n));
    let looks = 0;
    const full = { isFreeFor: () => (looks++, false) };

    expect(lines.anyReady(full)).toBe(true);
    expect(looks).toBeLessThanOrEqual(256);
    expect(takeAll(lines)).toHaveLength(1_000);
    for (let n = 0; n < 1_000; n++) lines.add(hint(`${n}`, `tenant ${n}`, n));
    while (lines.anyReady(always)) lines.take(never);
    looks = 0;

    expect(lines.anyReady(full)).toBe(false);
    expect(looks).toBe(0);
  });

  it("examines few tenants for one that may have a slot, each time others", () => {
    const lines = new Lines(ignore, { ...bounds, totalMax: 10_000 });
    for (let n = 0; n < 1_000; n++) lines.add(hint(`${n}`, `tenant ${n}`, n));
    let looks = 0;
    const room = {
      isFree: () => true,
      isFreeFor: (tenant: string) => (looks++, tenant === "tenant 999"),
    };
    const taken = Array.from({ length: 4 }, () => idOf(lines.take(room)));

    expect(taken).toEqual([undefined, undefined, undefined, "999"]);
    expect(looks).toBe(1_000);
  });

  it("lets few tenants look at an origin that has a slot again, first its own, each time others", () => {
    const lines = new Lines(ignore, { ...bounds, totalMax: 10_000 });
    for (let n = 0; n < 100; n++) lines.add(hint(`${n}`, `tenant ${n}`, 1));
    takeAll(lines, () => false);
    const looked: unknown[] = [];
    for (let turns = 0; turns < 6; turns++) {
      lines.unblock(tenantId("tenant 50"), 1);
      takeAll(lines, (next) => (looked.push(idOf(next)), false));
    }

    expect(looked.slice(0, 17).includes("50")).toBe(true);
    expect(looked).toHaveLength(6 * 17);
    expect(new Set(looked).size).toBeGreaterThan(90);
  });

  it("pulls for tenants with dropped hints before tenants that may have messages", () => {
    const lines = new Lines(ignore, bounds);
    for (const name of ["x", "y"]) lines.expect(tenantId(name));
    for (const id of ["a1", "a2", "a3", "a4"]) lines.add(hint(id));
    takeAll(lines);

    expect(lines.drained(always, 2, new Set()).map(({ tenant }) => tenant)).toEqual(["a", "x"]);
    expect(lines.drained(always, 9, new Set([a]))).toMatchObject([
      { tenant: "x" },
      { tenant: "y" },
    ]);
  });

  it("examines some of the blocked origins again, each time others", () => {
    const lines = new Lines(ignore, { ...bounds, totalMax: 2_000 });
    for (let origin = 0; origin < 600; origin++) lines.add(hint(`${origin}`, "a", origin));
    lines.take(never);
    const isLast = ({ origin }: Hint): boolean => origin === 599;

    const taken: unknown[] = [];
    for (let turns = 0; turns < 3; turns++) {
      lines.unblockSome();
      taken.push(...takeAll(lines, isLast));
    }

    expect(taken).toEqual(["599"]);
  });

  it("knows the messages in line, so that a newcomer does not overtake", () => {
    const lines = new Lines(ignore, bounds);
    lines.add(hint("x1", "a", 1));

    expect(lines.hasWaiting(tenantId("a"), 1, 0)).toBe(true);
    expect(lines.hasWaiting(tenantId("a"), 2, 0)).toBe(false);
    expect(lines.hasWaiting(tenantId("b"), 1, 0)).toBe(false);
  });
});

describe("heavy messages in the lines", () => {
  const heavy = (id: string, origin = 1): Hint => ({ ...hint(id, "a", origin), bytes: 1_000_000 });
  const isLight = ({ bytes }: Hint): boolean => bytes === 0;

  it("have a line of their own: while they wait for bytes, light ones to their origin go on", () => {
    const lines = new Lines(ignore, bounds);
    for (const each of [heavy("h1"), heavy("h2"), hint("l1"), hint("l2")]) lines.add(each);

    expect(takeAll(lines, isLight)).toEqual(["l1", "l2"]);
    expect(lines.hasWaiting(tenantId("a"), 1, 1_000_000)).toBe(true);
    expect(lines.hasWaiting(tenantId("a"), 1, 0)).toBe(false);
    lines.unblock(a, 1);
    expect(takeAll(lines)).toEqual(["h1", "h2"]);
  });

  it("are examined again when bytes become free, some at a time, and all when no body is left that would free more", () => {
    const lines = new Lines(ignore, bounds);
    for (let origin = 0; origin < 40; origin++) lines.add(heavy(`h${origin}`, origin));
    const looks: number[] = [];
    for (const all of [false, false, true]) {
      let looked = 0;
      lines.unblockHeavy(all);
      takeAll(lines, () => {
        looked += 1;
        return false;
      });
      looks.push(looked);
    }

    expect(looks).toEqual([40, 16, 40]);
  });

  it("that were dropped are pulled by their origin", () => {
    const lines = new Lines(ignore, bounds);
    for (let n = 0; n < 4; n++) lines.add(heavy(`h${n}`, 7));
    lines.take(never);

    expect(drained(lines)).toMatchObject([{ tenant: "a", except: [7] }]);
  });
});

it("a deliverer is named again when the heavy messages no longer wait", () => {
  const lines = new Lines(ignore);
  const body = new Uint8Array(10 * 1024 * 1024);
  const heavy = () => newAttempt(aClaimedRecord({ body }), 1, 0, virtualClock());
  const seen: boolean[] = [];
  for (const leave of [() => takeAll(lines), () => lines.giveAll(), () => undefined]) {
    for (let n = 0; n < 2; n++) {
      seen.push(lines.isOpenToNamed);
      lines.addClaimed(heavy());
    }
    seen.push(lines.isOpenToNamed);
    leave();
  }

  expect(seen).toEqual([true, true, false, true, true, false, true, true, false]);
});
