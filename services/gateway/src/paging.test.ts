import { describe, expect, it } from "@jest/globals";
import { anotherTenant, aTenant, virtualClock } from "@posthaste/testing";
import { createCursors } from "@posthaste/runtime";
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
    const cursor = paging.seal(scope, "17.4");

    expect(paging.open(scope, { ...asked, ...(cursor !== undefined && { cursor }) })).toEqual({
      limit: 10,
      order: "latestFirst",
      after: "17.4",
    });
  });

  it("is absent on the first page and on the last", () => {
    const { paging } = open();

    expect(paging.open(scope, asked)).toEqual({ limit: 10, order: "latestFirst" });
    expect(paging.seal(scope, undefined)).toBeUndefined();
  });

  it.each([
    { what: "another tenant", other: { ...scope, tenant: anotherTenant } },
    { what: "another list", other: { ...scope, list: "dlq" } },
    { what: "another filter", other: { ...scope, filter: {} } },
  ])("is refused for $what", ({ other }) => {
    const { paging } = open();
    const cursor = paging.seal(scope, "17.4") ?? "";

    expect(paging.open(other, { ...asked, cursor })).toMatchObject({ fault: "malformed" });
  });

  it("is refused when it is no cursor of ours, or older than an hour", async () => {
    const { clock, paging } = open();
    const cursor = paging.seal(scope, "17.4") ?? "";
    const isRefused = (text: string): void =>
      expect(paging.open(scope, { ...asked, cursor: text })).toMatchObject({ fault: "malformed" });

    isRefused("17.4");
    isRefused(`${cursor.slice(0, -1)}${cursor.endsWith("A") ? "B" : "A"}`);
    await clock.advance(3_600_000);
    isRefused(cursor);
  });
});
