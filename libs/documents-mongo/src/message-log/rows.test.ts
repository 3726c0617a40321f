import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { type AttemptFact, createdEvent, eventsOf, limits } from "@posthaste/domain";
import { aMessage, anAnswer } from "@posthaste/testing";
import { BSON } from "mongodb";
import { entriesOf, type LogRow, rowsOf } from "./rows.ts";

const aFact = (overrides: Partial<AttemptFact> = {}): AttemptFact => ({
  kind: "fact",
  id: aMessage().id,
  attempt: 0,
  startedAt: 1_000,
  endedAt: 1_250,
  ended: "failed",
  ...overrides,
});

const throughTheStore = (row: LogRow): LogRow =>
  BSON.deserialize(BSON.serialize(row, { ignoreUndefined: true }), {
    promoteBuffers: true,
  }) as LogRow;

describe("rows of the message log", () => {
  it("have no body of the message, and say when the answer's was cut", () => {
    const response = anAnswer(500, { body: new Uint8Array(limits.logResponseBytesMax + 1) });
    const rows = rowsOf(aMessage(), aFact({ response }));

    for (const { item } of rows) expect(item.message).not.toHaveProperty("body");
    const cut = rows.flatMap(({ item }) => item.fact?.response ?? []);
    expect(cut.map(({ body, truncated }) => [body.length, truncated])).toEqual([
      [limits.logResponseBytesMax, true],
      [limits.logResponseBytesMax, true],
    ]);
  });

  it("know the host with and without its port, and the path without the query", () => {
    const [row] = rowsOf(aMessage({ url: "https://a.example:8443/b?c=1" }), undefined);
    expect(row).toMatchObject({ hosts: ["a.example:8443", "a.example"], path: "/b" });
  });

  it("of one message sort as they happened, also within a millisecond, beyond a hundred attempts", () => {
    const message = aMessage();
    const facts = [99, 100].map((attempt) =>
      aFact({ attempt, startedAt: 7, endedAt: 7, ended: "retry" }),
    );
    const rows = facts.flatMap((fact) => rowsOf(message, fact)).filter(({ item }) => item.fact);

    const sorted = rows.toSorted((a, b) => (a.place < b.place ? -1 : 1));

    expect(sorted.map(({ item }) => [item.event.attempt, item.event.state])).toEqual([
      [99, "ERROR"],
      [99, "RETRY"],
      [100, "ERROR"],
      [100, "RETRY"],
    ]);
  });

  it("are one for a message delivered within a second, which has each event at its place", () => {
    const message = aMessage({ now: 1_000 });
    const fact = aFact({ startedAt: 1_100, endedAt: 2_000, ended: "delivered" });
    const rows = rowsOf(message, fact);

    const apart = [createdEvent(1_000), ...eventsOf(fact)].map((event) => [event.at, event.state]);
    expect(rows).toHaveLength(1);
    expect(
      rows
        .flatMap(({ item }) => entriesOf(item))
        .map(({ item }) => [item.event.at, item.event.state]),
    ).toEqual(apart);
    const [created] = rowsOf(message, undefined);
    expect(rows[0]?.first).toBe(created?.place);
  });

  it("are two of a message that was cancelled long after it was created, and the second contains the request", () => {
    const fact = aFact({ startedAt: undefined, endedAt: 9_000, ended: "canceled" });
    const rows = rowsOf(aMessage({ now: 1_000 }), fact);

    expect(rows.map(({ item }) => item.event.state)).toEqual(["CREATED", "CANCELED"]);
    const [, ended] = rows;
    const told = ended ? entriesOf(ended.item) : [];
    expect(told.map(({ item }) => [item.event.at, item.event.state])).toEqual([
      [9_000, "CANCEL_REQUESTED"],
      [9_000, "CANCELED"],
    ]);
    expect(told.map(({ place }) => place).toSorted()).toEqual(told.map(({ place }) => place));
  });

  it.each([
    ["created long before", { startedAt: 2_000, endedAt: 2_001 }, ["CREATED", "DELIVERED"]],
    ["called for long", { startedAt: 1_100, endedAt: 3_000 }, ["CREATED", "ACTIVE", "DELIVERED"]],
    [
      "ended before it began, by another clock",
      { startedAt: 1_500, endedAt: 1_400 },
      ["ACTIVE", "DELIVERED"],
    ],
  ])("are several for an event of %s", (_, times, states) => {
    const rows = rowsOf(aMessage({ now: 1_000 }), aFact({ ...times, ended: "delivered" }));
    expect(rows.map(({ item }) => item.event.state)).toEqual(states);
  });

  it("are read from the store as they were written, whatever the texts, times and bytes", () => {
    const text = fc.string({ unit: "binary" });
    const pairs = fc.array(fc.tuple(fc.oneof(text, fc.constant("__proto__")), text));
    const time = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
    fc.assert(
      fc.property(text, pairs, fc.uint8Array(), time, (url, headers, body, endedAt) => {
        const message = aMessage({ url, headers });
        const response = anAnswer(500, { headers, body });
        const rows = rowsOf(message, aFact({ endedAt, response, error: url }));
        expect(rows.flatMap((row) => entriesOf(throughTheStore(row).item))).toEqual(
          rows.flatMap(({ item }) => entriesOf(item)),
        );
      }),
    );
  });
});
