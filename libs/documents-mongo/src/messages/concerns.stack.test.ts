/** The read and write concerns of requests, by the driver's own record of its commands (ADR 97). */
import { describe, expect, it, jest } from "@jest/globals";
import { servers } from "../servers.fixture.ts";
import { openStores, settlementOf } from "./harness.fixture.ts";

jest.setTimeout(120_000);

describe.each(servers)("$name", ({ uri }) => {
  const open = openStores(uri);

  it("writes without an effect wait for the majority, too: a repeated insert, a lost claim, a late settle", async () => {
    const { insert, insertOne, claim, records, queries, clock, another } = await open();
    const message = await insertOne();
    const claimed = await claim([message.id]);
    const settlements = claimed.map((record) => settlementOf(record, clock.now()));
    await records.settle(settlements);
    const before = { ...queries.commands() };

    expect(await insert([message])).toEqual(["known"]);
    expect(await claim([message.id], another().records)).toEqual([]);
    await records.settle(settlements);

    const { insert: inserts = 0, update: updates = 0 } = queries.commands();
    expect(inserts - (before["insert"] ?? 0)).toBe(1);
    expect(updates - (before["update"] ?? 0)).toBeGreaterThanOrEqual(2);
    expect(queries.otherConcerns()).toEqual([]);
  });
});
