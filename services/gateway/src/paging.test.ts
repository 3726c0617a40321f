import { describe, expect, it } from "@jest/globals";
import { isFault } from "@posthaste/domain";
import { anotherTenant, aTenant, virtualClock } from "@posthaste/testing";
import { createCursors } from "@posthaste/http";
import { createPaging } from "./paging.ts";

const scope = { tenant: aTenant, list: "log", filter: { states: ["ERROR"] } };
const asked = { limit: 10, order: "latestFirst", bodyBytesMax: 0 } as const;

function open() {
  const clock = virtualClock();
  return { clock, paging: createPaging(createCursors({ secret: "secret", clock })) };
}

describe("a cursor", () => {
  it("continues behind the position that it was sealed with", () => {
    const { paging } = open();
    const cursor = paging.seal(scope, {}, "17.4");

    expect(paging.open(scope, { ...asked, ...(cursor !== undefined && { cursor }) })).toEqual({
      page: { limit: 10, order: "latestFirst", bodyBytesMax: 0, after: "17.4" },
      filter: scope.filter,
    });
  });

  it("is absent on the first page and on the last", () => {
    const { paging } = open();

    expect(paging.open(scope, asked)).toEqual({ page: asked, filter: scope.filter });
    expect(paging.seal(scope, {}, undefined)).toBeUndefined();
  });

  it.each([
    ["latestFirst", {}, { to: 500 }],
    ["latestFirst", { to: 400 }, { to: 400 }],
    ["latestFirst", { from: 100, to: 900 }, { from: 100, to: 500 }],
    ["earliestFirst", { from: 100, to: 900 }, { from: 500, to: 900 }],
    ["earliestFirst", { from: 600 }, { from: 600 }],
  ] as const)(
    "may be a time to begin at, which all its pages keep: %s of %j",
    (order, given, filter) => {
      const { paging } = open();
      const timed = { ...scope, filter: given };
      const first = paging.open(timed, { ...asked, order, startAt: 500 });
      if (isFault(first)) throw new Error(first.text);
      const cursor = paging.seal(timed, first, "17.4") ?? "";

      expect(first).toEqual({ page: { ...asked, order }, filter, startAt: 500 });
      expect(paging.open(timed, { ...asked, order, cursor })).toEqual({
        page: { ...asked, order, after: "17.4" },
        filter,
        startAt: 500,
      });
    },
  );

  it.each([
    { what: "another tenant", other: { ...scope, tenant: anotherTenant } },
    { what: "another list", other: { ...scope, list: "dlq" } },
    { what: "another filter", other: { ...scope, filter: {} } },
  ])("is refused for $what", ({ other }) => {
    const { paging } = open();
    const cursor = paging.seal(scope, {}, "17.4") ?? "";

    expect(paging.open(other, { ...asked, cursor })).toMatchObject({ fault: "malformed" });
  });

  it("is refused when it is no cursor of ours, or older than an hour", async () => {
    const { clock, paging } = open();
    const cursor = paging.seal(scope, {}, "17.4") ?? "";
    const isRefused = (text: string): void =>
      expect(paging.open(scope, { ...asked, cursor: text })).toMatchObject({ fault: "malformed" });

    isRefused("17.4");
    isRefused(`${cursor.slice(0, -1)}${cursor.endsWith("A") ? "B" : "A"}`);
    await clock.advance(3_600_000);
    isRefused(cursor);
  });
});
