/** The proof for code that takes and gives back: after any drawn sequence, everything can be taken again. */
import { expect } from "@jest/globals";
import fc from "fast-check";

/** A thing that was taken, or that waits to be taken. */
export type Taken = {
  /** Gives the thing back, or ends the wait. May be called again, unless its type allows only one call (`endsOnce`). */
  readonly giveBack: () => unknown;
  /** Fails the work that holds the thing, or makes its caller go away. */
  readonly fail?: () => unknown;
  /** Returns false while the take waits. If absent, the thing is held unless it was refused. */
  readonly isHeld?: () => boolean;
};

export type Taking = {
  /** Takes of different owners and sizes. A take returns undefined when it is refused. */
  readonly takes: readonly (() => Taken | undefined | Promise<Taken | undefined>)[];
  readonly held: () => unknown;
  /** Whether giving back twice cannot be written, since a take ends when its work has ended. */
  readonly endsOnce?: boolean;
};

const step = fc.record({
  what: fc.constantFrom("take", "take", "take", "giveBack", "fail", "again"),
  which: fc.nat({ max: 1_000 }),
});
const stepsMax = 40;
/** How often each way of taking is tried, to find how much can be held. */
const roundsMax = 12;

/** Takes and gives back in any order, twice, by failing and by going away. Then nothing may be held, and as much must fit as at first. */
export async function expectAllGivenBack(
  open: () => Taking | Promise<Taking>,
  histories = 60,
): Promise<void> {
  const all = await filled(await open());
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: stepsMax }), async (steps) => {
      const taking = await open();
      const atFirst = taking.held();
      const held: Taken[] = [];
      const over: Taken[] = [];
      const end = async (nth: number, fails: boolean): Promise<void> => {
        const [each] = held.splice(nth % Math.max(1, held.length), 1);
        if (!each) return;
        over.push(each);
        await (fails && each.fail ? each.fail() : each.giveBack());
        await settled();
      };
      for (const { what, which } of steps) {
        if (what === "take") {
          const taken = await taking.takes[which % taking.takes.length]?.();
          if (taken) held.push(taken);
          await settled();
        } else if (what === "again") {
          if (!taking.endsOnce) await over[which % Math.max(1, over.length)]?.giveBack();
        } else await end(which, what === "fail");
      }
      while (held.length > 0) await end(over.length * 7, false);
      if (!taking.endsOnce) for (const each of over) await each.giveBack();
      await settled();

      expect(taking.held()).toEqual(atFirst);
      expect(await filled(taking)).toEqual(all);
    }),
    { numRuns: histories },
  );
}

/** Takes until everything is refused, and returns the results. */
async function filled({ takes }: Taking): Promise<readonly (boolean | undefined)[]> {
  const taken: (Taken | undefined)[] = [];
  for (let round = 0; round < roundsMax; round++)
    for (const take of takes) taken.push(await take());
  await settled();
  return taken.map((each) => each && (each.isHeld?.() ?? true));
}

/** Lets all code continue that waits for a promise. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Returns work that holds a thing until the test ends it. `run` begins the work when it is admitted. */
export function heldByWork(run: (work: () => Promise<void>) => Promise<unknown>): Required<Taken> {
  const end = Promise.withResolvers<void>();
  let isHeld = false;
  end.promise.catch(() => undefined);
  run(async () => {
    isHeld = true;
    try {
      await end.promise;
    } finally {
      isHeld = false;
    }
  }).catch(() => undefined);
  return {
    giveBack: end.resolve,
    fail: () => end.reject(new Error("the work has failed")),
    isHeld: () => isHeld,
  };
}
