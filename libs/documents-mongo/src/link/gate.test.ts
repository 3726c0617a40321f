import { describe, expect, it } from "@jest/globals";
import { turn, virtualClock } from "@posthaste/testing";
import { expectAllGivenBack, heldByWork } from "@posthaste/testing/give-back";
import { createGate } from "./gate.ts";

const bounds = { tasksMax: 3, tasksPerOwnerMax: 2, waitingMax: 4, waitMsMax: 1_000 };
function opened() {
  const clock = virtualClock();
  const gate = createGate(clock, bounds);
  const task = (owner: string) => {
    const state = { isIn: false, end: (): void => undefined, ended: Promise.resolve("") };
    state.ended = gate
      .run(owner, async () => {
        state.isIn = true;
        await new Promise<void>((resolve) => (state.end = resolve));
        return "done";
      })
      .catch((error: { code: string }) => error.code);
    return state;
  };
  return { clock, gate, task };
}

describe("a gate for long calls", () => {
  it("lets so many in, of one owner its part, and others when these have ended", async () => {
    const { task } = opened();
    const [a, b, c, other] = ["a", "a", "a", "b"].map(task);
    await turn();
    expect([a, b, c, other].map((each) => each?.isIn)).toEqual([true, true, false, true]);

    a?.end();
    await a?.ended;
    await turn();

    expect(c?.isIn).toBe(true);
  });

  it("refuses a call that has waited for its time, and a call that comes when too many wait", async () => {
    const { clock, task } = opened();
    const held = ["a", "b", "c"].map(task);
    const waiting = ["d", "e", "f", "g"].map(task);
    const refused = task("h");

    expect(await refused.ended).toBe("overloaded");
    await clock.advance(1_000);

    expect(await Promise.all(waiting.map(({ ended }) => ended))).toEqual(
      Array(4).fill("overloaded"),
    );
    expect(held.every(({ isIn }) => isIn)).toBe(true);
  });

  it("is empty when all calls have ended, in any order", async () => {
    await expectAllGivenBack(() => {
      const clock = virtualClock();
      const gate = createGate(clock, bounds);
      const takes = ["a", "b", "c"].map(
        (owner) => () => heldByWork((work) => gate.run(owner, work)),
      );
      const refusing = () => {
        void clock.advance(bounds.waitMsMax);
        return undefined;
      };
      return { takes: [...takes, refusing], held: gate.underWay, endsOnce: true };
    });
  });
});
