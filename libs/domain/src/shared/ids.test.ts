import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { aTenant, anotherTenant, newId } from "@posthaste/testing";
import {
  callbackId,
  childId,
  dlqIdOf,
  failureCallbackId,
  flowLaneId,
  isDerived,
  type MessageId,
  messageId,
  parentOf,
  positionOf,
  randomLength,
  randomMessageId,
  slotId,
} from "./ids.ts";

const random = "x".repeat(randomLength);
const positions = fc.maxSafeNat();

describe("a random id", () => {
  it("shows its position", () => {
    const holds = fc.property(
      positions,
      (position) => positionOf(randomMessageId(position, random)) === position,
    );

    fc.assert(holds, { seed: 1, numRuns: 2_000 });
    expect(positionOf(randomMessageId(0, random))).toBe(0);
    expect(positionOf(randomMessageId(Number.MAX_SAFE_INTEGER, random))).toBe(
      Number.MAX_SAFE_INTEGER,
    );
  });

  it("sorts as a text by its position", () => {
    const holds = fc.property(positions, positions, (a, b) => {
      const [idA, idB] = [randomMessageId(a, random), randomMessageId(b, random)];
      return a === b || idA < idB === a < b;
    });

    fc.assert(holds, { seed: 1, numRuns: 2_000 });
  });

  it("contains no character that separates lists, paths and keys", () => {
    expect(randomMessageId(Number.MAX_SAFE_INTEGER, random)).toMatch(/^msg_[0-9A-Za-z]{26}$/);
  });

  it("is not derived", () => {
    expect(isDerived(newId())).toBe(false);
  });
});

describe("the position of a text", () => {
  it.each([
    "",
    "msg_",
    "msg_zzzzzzzzz" + random,
    "msg_00000000-" + random,
    "abc_000000000" + random,
    `${newId()}x`,
    "msg_000000000",
  ])("that is no random id of ours does not exist: %j", (text) => {
    expect(positionOf(text)).toBeUndefined();
  });

  it("never throws, and derived ids have none", () => {
    const holds = fc.property(fc.string({ unit: "binary", maxLength: 40 }), (text) => {
      const position = positionOf(text);
      return position === undefined || Number.isSafeInteger(position);
    });

    fc.assert(holds, { seed: 1, numRuns: 1_000 });
    expect(positionOf(callbackId(newId(), 0))).toBeUndefined();
  });
});

describe("a derived id", () => {
  const source = newId();

  it("is the same for the same cause and differs from every other", () => {
    const all = [
      callbackId(source, 0),
      callbackId(source, 1),
      callbackId(source, 11),
      failureCallbackId(source),
      callbackId(failureCallbackId(source), 0),
      ...Array.from({ length: 20_000 }, (_, index) => childId(source, index)),
    ];

    expect(new Set(all).size).toBe(all.length);
    expect(callbackId(source, 1)).toBe(callbackId(source, 1));
    expect(all.every(isDerived)).toBe(true);
    expect(all.every((id) => /^[0-9A-Za-z_]+$/.test(id))).toBe(true);
  });

  it("of a child shows its parent and its place", () => {
    const holds = fc.property(fc.nat(32 ** 4 - 1), (index) => {
      expect(parentOf(childId(source, index))).toEqual({ parent: source, index });
    });

    fc.assert(holds, { seed: 1, numRuns: 500 });
  });

  it("of anything but a child has no parent", () => {
    const others = [
      source,
      callbackId(source, 0),
      failureCallbackId(source),
      callbackId(childId(source, 3), 0),
      failureCallbackId(childId(source, 3)),
      messageId(`${source}_n00`),
      messageId(`${source}_n03`),
      messageId(`${source}_nw`),
      messageId(`${source}_n`),
      messageId(`${source}_n11111`),
    ];

    expect(others.map(parentOf)).toEqual(others.map(() => undefined));
  });
});

describe("a dead letter's id", () => {
  it("sorts by the time of failure and differs from message to message", () => {
    const source = newId();
    const ids = [1_767_225_600_001, 1_767_225_600_000].map((at) => dlqIdOf(source, at));

    expect(ids.toSorted()).toEqual(ids.toReversed());
    expect(dlqIdOf(newId(), 1)).not.toBe(dlqIdOf(newId(), 1));
    expect(ids[0]).toMatch(/^1767225600001-[0-9a-z]+$/);
  });
});

describe("a lane's id", () => {
  it("differs between tenants and between keys", () => {
    const ids = [
      flowLaneId(aTenant, "k"),
      flowLaneId(anotherTenant, "k"),
      flowLaneId(aTenant, "l"),
    ];

    expect(new Set(ids).size).toBe(3);
  });
});

describe("ids", () => {
  it("of every kind sort by the position that they begin with", () => {
    const chance = (digit: string): string => digit.repeat(randomLength);
    const made = (position: number, digit: string): readonly MessageId[] => {
      const id = randomMessageId(position, chance(digit));
      const slot = slotId(position, chance(digit));
      const child = childId(id, 9_999);
      return [id, slot, child, callbackId(child, 3), failureCallbackId(slot), childId(slot, 0)];
    };
    const earlier = made(1_000_000, "z");
    const later = made(1_000_001, "0");

    for (const one of earlier) for (const other of later) expect(one < other).toBe(true);
  });
});
