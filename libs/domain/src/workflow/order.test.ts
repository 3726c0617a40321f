import { describe, expect, it } from "@jest/globals";
import * as fc from "fast-check";
import { partOf } from "./part-key.ts";
import {
  entriesBetween,
  type EntryKey,
  extended,
  groupEnd,
  has,
  newOrder,
  type Order,
  rankIn,
  type StepKey,
} from "./order.ts";

const result = (step: number): StepKey => ({ role: "result", step });
const plan = (step: number): StepKey => ({ role: "plan", step });

const accepting = (batches: readonly (readonly StepKey[])[]): Order =>
  batches.reduce(extended, newOrder);

const inTheirOrder = (batches: readonly (readonly StepKey[])[]): readonly EntryKey[] => [
  { role: "start" },
  ...batches.flat(),
];

/** Distinct keys, in batches of any size. */
const batches = fc
  .uniqueArray(
    fc.record({
      role: fc.constantFrom("plan" as const, "result" as const),
      step: fc.integer({ min: 1, max: 12 }),
    }),
    { selector: partOf },
  )
  .chain((keys) =>
    fc.array(fc.boolean(), { minLength: keys.length, maxLength: keys.length }).map((begins) => {
      const all: StepKey[][] = [];
      for (const [i, key] of keys.entries()) {
        const last = all.at(-1);
        if (last && !begins[i]) last.push(key);
        else all.push([key]);
      }
      return all;
    }),
  );

type Group = { readonly first: number; readonly size: number };

/** A run as clients make one: single steps, and groups whose results come in any order. */
const program = fc
  .array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 8 })
  .chain((sizes) => {
    let next = 1;
    const groups = sizes.map((size): Group => {
      const first = next;
      next += size;
      return { first, size };
    });
    return fc
      .tuple(
        ...groups.map((group) => fc.shuffledSubarray(stepsOf(group), { minLength: group.size })),
      )
      .map((orders) => ({
        groups,
        batches: groups.flatMap((group, i) => asked(group, orders[i])),
      }));
  });

const stepsOf = ({ first, size }: Group): number[] =>
  Array.from({ length: size }, (_, i) => first + i);

const asked = (group: Group, order: readonly number[] = []): readonly (readonly StepKey[])[] => [
  ...(group.size > 1 ? [stepsOf(group).map(plan)] : []),
  ...order.map((step) => [result(step)]),
];

describe("the history of a run", () => {
  it("has each entry at the rank at which it was accepted, and no other", () => {
    fc.assert(
      fc.property(batches, (given) => {
        const order = accepting(given);
        const keys = inTheirOrder(given);

        expect(order.length).toBe(keys.length);
        expect(keys.map((key) => rankIn(order, key))).toEqual(keys.map((_, rank) => rank));
        const names = new Set(keys.map(partOf));
        for (let step = 1; step <= 13; step++)
          for (const key of [plan(step), result(step)]) {
            expect(has(order, key)).toBe(names.has(partOf(key)));
            expect(rankIn(order, key) !== undefined).toBe(names.has(partOf(key)));
          }
      }),
    );
  });

  it("is read back in its order, from any rank to any other", () => {
    fc.assert(
      fc.property(batches, fc.nat(26), fc.nat(26), (given, first, last) => {
        const keys = inTheirOrder(given);

        expect(entriesBetween(accepting(given), first, last)).toEqual(keys.slice(first, last + 1));
      }),
    );
  });

  it("only grows: entries keep their rank, whatever comes later", () => {
    fc.assert(
      fc.property(batches, fc.nat(24), (given, cut) => {
        const before = accepting(given.slice(0, cut));
        const after = accepting(given);

        expect(entriesBetween(after, 0, before.length - 1)).toEqual(
          entriesBetween(before, 0, before.length - 1),
        );
      }),
    );
  });

  it("shows the whole of a group to exactly one of its results, in whatever order they come", () => {
    fc.assert(
      fc.property(program, (given) => {
        const order = accepting(given.batches);
        for (const group of given.groups.filter(({ size }) => size > 1)) {
          const steps = new Set(stepsOf(group));
          const shown = [...steps].map((step) => {
            const prefix = entriesBetween(order, 0, rankIn(order, result(step)) ?? -1);
            return prefix.filter((key) => "step" in key && steps.has(key.step)).length;
          });

          expect(shown.filter((entries) => entries === 2 * group.size)).toHaveLength(1);
          expect(Math.max(...shown)).toBe(2 * group.size);
        }
      }),
    );
  });

  it("knows the end of the group that a step was planned in, and of no other", () => {
    fc.assert(
      fc.property(program, ({ groups, batches: given }) => {
        const order = accepting(given);
        for (const group of groups)
          for (const step of stepsOf(group))
            expect(groupEnd(order, step)).toBe(group.first + group.size - 1);
      }),
    );
  });

  it("keeps two groups apart that follow each other", () => {
    const order = accepting([[plan(1), plan(2)], [plan(3), plan(4)], [result(1)]]);

    expect([1, 2, 3, 4].map((step) => groupEnd(order, step))).toEqual([2, 2, 4, 4]);
  });

  it("is as small after ten thousand steps in sequence as after one", () => {
    const steps = Array.from({ length: 10_000 }, (_, i) => [result(i + 1)]);
    const order = accepting(steps);

    expect(order.length).toBe(10_001);
    expect(JSON.stringify(order).length).toBeLessThan(128);
    expect(rankIn(order, result(10_000))).toBe(10_000);
  });

  it("is small after ten groups of a thousand whose results come in their order", () => {
    const groups = Array.from({ length: 10 }, (_, i) => ({ first: 1 + i * 1_000, size: 1_000 }));
    const order = accepting(groups.flatMap((group) => asked(group, stepsOf(group))));

    expect(order.length).toBe(20_001);
    expect(JSON.stringify(order).length).toBeLessThan(4_096);
  });
});
