import { describe, expect, it } from "@jest/globals";
import { messageId, tenantId } from "@posthaste/domain";
import { type Hint } from "@posthaste/ports";
import { HintBuffer } from "./buffer.ts";

const hint = (id: string, tenant = "a", origin = 1): Hint => ({
  id: messageId(id),
  tenant: tenantId(tenant),
  origin,
  epoch: 0,
});
const bounds = { perOriginMax: 3, totalMax: 100 };
const always = (): boolean => true;

function takeAll(buffer: HintBuffer, isFree: (origin: number) => boolean = always): string[] {
  const ids: string[] = [];
  for (let next = buffer.take(isFree); next; next = buffer.take(isFree)) ids.push(next.id);
  return ids;
}

describe("the buffer of hints", () => {
  it("takes tenants in turn, so that one with many hints does not hold up another", () => {
    const buffer = new HintBuffer(bounds);
    for (const id of ["a1", "a2", "a3"]) buffer.add(hint(id, "a"));
    buffer.add(hint("b1", "b"));

    expect(takeAll(buffer)).toEqual(["a1", "b1", "a2", "a3"]);
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

    expect(takeAll(buffer, (origin) => origin !== 1)).toEqual(["y1"]);
    expect(takeAll(buffer)).toEqual([]);
    buffer.unblock(1);
    expect(takeAll(buffer)).toEqual(["x1"]);
  });

  it("drops what does not fit and remembers whose it was until a pull has answered", () => {
    const buffer = new HintBuffer(bounds);
    for (const id of ["a1", "a2", "a3", "a4"]) buffer.add(hint(id));

    expect(buffer.size).toBe(3);
    expect(buffer.drained()).toEqual([]);
    expect(takeAll(buffer)).toEqual(["a1", "a2", "a3"]);
    expect(buffer.drained()).toEqual([{ tenant: "a", blocked: [] }]);
    buffer.pulled(tenantId("a"), [hint("a4")], { except: 0, more: false });
    expect(takeAll(buffer)).toEqual(["a4"]);
    expect(buffer.anyDropped).toBe(false);
  });

  it("counts a tenant as run dry although a full origin of its own still has hints", () => {
    const buffer = new HintBuffer(bounds);
    for (const id of ["x1", "x2", "x3", "x4"]) buffer.add(hint(id, "a", 1));
    buffer.take(() => false);

    expect(buffer.drained()).toEqual([{ tenant: "a", blocked: [1] }]);
  });

  it("pulls an origin's dropped hints once it has run dry, however often the others were pulled meanwhile", () => {
    const buffer = new HintBuffer(bounds);
    for (const id of ["x1", "x2", "x3", "x4"]) buffer.add(hint(id, "a", 1));
    buffer.take(() => false);
    buffer.pulled(tenantId("a"), [], { except: 1, more: false });

    expect(buffer.drained()).toEqual([]);
    buffer.unblock(1);
    expect(takeAll(buffer)).toEqual(["x1", "x2", "x3"]);
    expect(buffer.drained()).toEqual([{ tenant: "a", blocked: [] }]);
  });

  it("knows who is in line, so that a newcomer does not overtake", () => {
    const buffer = new HintBuffer(bounds);
    buffer.add(hint("x1", "a", 1));

    expect(buffer.hasWaiting(tenantId("a"), 1)).toBe(true);
    expect(buffer.hasWaiting(tenantId("a"), 2)).toBe(false);
    expect(buffer.hasWaiting(tenantId("b"), 1)).toBe(false);
  });
});
