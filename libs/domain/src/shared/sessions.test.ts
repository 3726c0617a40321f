import { describe, expect, it } from "@jest/globals";
import {
  type EndedSessions,
  endedSessionsFrom,
  endedSessionsMax,
  endedSessionsText,
  isSessionOpen,
  noEndedSessions,
  sessionMs,
  withSessionEnded,
} from "./sessions.ts";

const now = 1_000_000_000_000;
const session = { id: "mine", madeAt: now - 1_000 };
const ended = (count: number, madeAt = now - 1_000): EndedSessions => ({
  until: 0,
  each: Array.from({ length: count }, (_, nth) => ({ id: `${nth}`, madeAt })),
});

describe("a session", () => {
  it.each([
    ["is open", session, undefined, true],
    ["is open while others have ended", session, ended(5), true],
    [
      "is open until its last millisecond",
      { id: "", madeAt: now - sessionMs + 1 },
      undefined,
      true,
    ],
    ["is over after twelve hours", { id: "", madeAt: now - sessionMs }, undefined, false],
    ["made by a clock that was ahead is over", { id: "", madeAt: now + 61_000 }, undefined, false],
    ["that was ended is over", { id: "3", madeAt: now - 1_000 }, ended(5), false],
    ["made when all were ended is over", session, { until: now - 1_000, each: [] }, false],
    ["made after that is open", session, { until: now - 1_001, each: [] }, true],
  ])("%s", (_, which, before, isOpen) => {
    expect(isSessionOpen(which, before, now)).toBe(isOpen);
  });

  it("that is ended is remembered until it had run out", () => {
    const first = withSessionEnded(undefined, session, now);
    const later = session.madeAt + sessionMs;
    const other = { id: "other", madeAt: later };

    expect(first.each).toEqual([session]);
    expect(withSessionEnded(first, session, now)).toBe(first);
    expect(withSessionEnded(first, other, later).each).toEqual([other]);
  });

  it("that is one too many ends all that were made until then, also by a clock that was ahead", () => {
    const most = ended(endedSessionsMax, now + 500);

    const all = withSessionEnded(most, session, now);

    expect(all).toEqual({ until: now + 500, each: [] });
    expect(isSessionOpen({ id: "0", madeAt: now + 500 }, all, now)).toBe(false);
    expect(isSessionOpen({ id: "new", madeAt: now + 501 }, all, now + 501)).toBe(true);
  });
});

it.each([noEndedSessions, ended(1), ended(3), { until: now, each: [] }])(
  "what has ended is read back from its text",
  (some) => {
    expect(endedSessionsFrom(endedSessionsText(some))).toEqual(some);
  },
);
