import { describe, expect, it } from "@jest/globals";
import { movedUp } from "./moved-up.ts";

const now = 1_800_000_000_000;
const minute = 60_000;
const day = 86_400_000;

describe("a retry that waits ten minutes", () => {
  it.each([
    ["that the clock has told rightly", 10, 0, undefined],
    ["of a process whose clock is a minute ahead", 11, 0, undefined],
    ["that a clock ahead by an hour has told, at a start", 70, 0, 10],
    ["of which half has passed, at the moment that clock is set back", 65, 60, 5],
    ["that is all but due, at that moment", 60, 60, 0],
    ["that would have been due by then", 59.5, 60, 0],
    ["from before that clock was ahead", 9, 60, undefined],
    ["that a clock ahead by an hour has told before another one was", 70, 20, 10],
  ])("%s", (_, dueInMinutes, setBackMinutes, movedToMinutes) => {
    const held = { kind: "held", dueAt: now + dueInMinutes * minute, waitMs: 10 * minute } as const;

    const moved = movedUp(held, now, setBackMinutes * minute);

    expect(moved && (moved.dueAt - now) / minute).toBe(movedToMinutes);
  });

  it("is moved up once", () => {
    const held = { kind: "held", dueAt: now + 2 * day, waitMs: 10 * minute } as const;
    const moved = movedUp(held, now, 0);

    expect(moved && movedUp(moved, now, 0)).toBeUndefined();
  });
});

it("a message that waits for a time named by its caller stays", () => {
  expect(movedUp({ kind: "held", dueAt: now + 2 * day }, now, 0)).toBeUndefined();
  expect(movedUp({ kind: "held", dueAt: now + 2 * day }, now, day)).toBeUndefined();
});
