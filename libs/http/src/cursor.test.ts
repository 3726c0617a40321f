import { describe, expect, it } from "@jest/globals";
import { isFault, tenantId } from "@posthaste/domain";
import { virtualClock } from "@posthaste/testing";
import { createCursors } from "./cursor.ts";

const mine = { tenant: tenantId("me"), filter: "events?state=ERROR" };

function sealed(position = "1767225600000-msg_1") {
  const clock = virtualClock();
  const cursors = createCursors({ secret: "s", clock });
  return { clock, cursors, cursor: cursors.seal(mine, position) };
}

describe("a cursor", () => {
  it.each(["1767225600000-msg_1", "", "ключ \u0000", "x".repeat(1_000)])(
    "comes back as the position %j",
    (position) => {
      const { cursors, cursor } = sealed(position);

      expect(cursors.open(mine, cursor)).toBe(position);
      expect(cursor).toMatch(/^[\w-]+$/);
    },
  );

  it("is refused after any single bit was flipped", () => {
    const { cursors, cursor } = sealed();
    const bytes = Buffer.from(cursor, "base64url");

    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const flipped = Buffer.from(bytes);
      flipped.writeUInt8((flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7)), bit >> 3);
      expect(isFault(cursors.open(mine, flipped.toString("base64url")))).toBe(true);
    }
  });

  it("is refused after any single character was changed, cut or added", () => {
    const { cursors, cursor } = sealed();

    for (let at = 0; at < cursor.length; at++) {
      const other = cursor[at] === "A" ? "B" : "A";
      const changed = cursor.slice(0, at) + other + cursor.slice(at + 1);
      for (const text of [
        changed,
        cursor.slice(0, at),
        `${cursor.slice(0, at)}=${cursor.slice(at)}`,
      ]) {
        expect(isFault(cursors.open(mine, text))).toBe(true);
      }
    }
    expect(isFault(cursors.open(mine, `${cursor}=`))).toBe(true);
    expect(isFault(cursors.open(mine, `${cursor}A`))).toBe(true);
  });

  it.each([
    ["another tenant", { ...mine, tenant: tenantId("you") }],
    ["another filter", { ...mine, filter: "events?state=ACTIVE" }],
    ["another list", { ...mine, filter: "dlq?state=ERROR" }],
  ])("is refused to %s", (_, scope) => {
    const { cursors, cursor } = sealed();

    expect(isFault(cursors.open(scope, cursor))).toBe(true);
  });

  it("is refused by another installation", () => {
    const { clock, cursor } = sealed();

    expect(isFault(createCursors({ secret: "t", clock }).open(mine, cursor))).toBe(true);
  });

  it("is good for an hour", async () => {
    const { clock, cursors, cursor } = sealed();

    await clock.advance(3_599_999);
    expect(isFault(cursors.open(mine, cursor))).toBe(false);
    await clock.advance(1);
    expect(isFault(cursors.open(mine, cursor))).toBe(true);
  });

  it.each([
    ["empty", ""],
    ["a million characters", "A".repeat(1_048_576)],
    ["no cursor", "1-2"],
    ["a NUL", "\0"],
  ])("that is %s is malformed, in the words of every other", (_, text) => {
    expect(sealed().cursors.open(mine, text)).toEqual({
      fault: "malformed",
      text: "cursor: not a cursor of this list, or older than an hour",
    });
  });
});
