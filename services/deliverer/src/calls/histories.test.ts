import { describe, expect, it } from "@jest/globals";
import { type HistoryEntry, randomMessageId, runMessageId } from "@posthaste/domain";
import * as fc from "fast-check";
import { Histories } from "./histories.ts";

const root = randomMessageId(1, "0123456789abcdefg");
const another = randomMessageId(2, "0123456789abcdefg");

const entriesOf = (of: typeof root, count: number): readonly HistoryEntry[] =>
  Array.from({ length: count }, (_, n) => ({
    messageId: n === 0 ? of : runMessageId(of, `s${n}`),
    body: new TextEncoder().encode(`step ${n}`),
  }));

/** Asks as the deliverer does: for the entries up to `rank` that are not kept. */
function ask(histories: Histories, of: typeof root, rank: number, from = histories.known(of)) {
  const read = entriesOf(of, rank + 1).slice(from);
  const body = histories.body(of, from, rank, read);
  return { read: read.length, body: body && new TextDecoder().decode(body) };
}

const whole = (of: typeof root, rank: number): string =>
  JSON.stringify(
    entriesOf(of, rank + 1).map(({ messageId, body }) => ({
      messageId,
      body: Buffer.from(body).toString("base64"),
      callType: "step",
    })),
  );

describe("histories that are kept", () => {
  it("are whole up to each rank, in any order of requests", () => {
    const asks = fc.array(
      fc.record({ of: fc.constantFrom(root, another), rank: fc.nat({ max: 12 }) }),
    );
    fc.assert(
      fc.property(asks, fc.constantFrom(0, 300, 1_000_000), (asked, bytesMax) => {
        const histories = new Histories(bytesMax);
        for (const { of, rank } of asked)
          expect(ask(histories, of, rank).body).toBe(whole(of, rank));
      }),
    );
  });

  it("of a run in sequence are read entry by entry, each once", () => {
    const histories = new Histories(1_000_000);

    const read = [0, 1, 2, 3, 4].map((rank) => ask(histories, root, rank).read);

    expect(read).toEqual([1, 1, 1, 1, 1]);
  });

  it("are kept as far as they fit, however many were forgotten or had to go before", () => {
    const histories = new Histories(1_000);
    for (let n = 3; n < 100; n++) {
      const of = randomMessageId(n, "0123456789abcdefg");
      ask(histories, of, 4);
      if (n % 2 === 0) histories.forget(of);
    }

    ask(histories, root, 1);
    ask(histories, another, 1);

    expect([root, another].map((of) => histories.known(of))).toEqual([2, 2]);
  });

  it("of two deliveries that read at once keep each entry once", () => {
    const histories = new Histories(1_000_000);
    ask(histories, root, 2);
    ask(histories, root, 5, 3);

    expect(ask(histories, root, 6, 3).body).toBe(whole(root, 6));
    expect(histories.known(root)).toBe(7);
  });

  it("drop the history that was unused for longest, and report a history dropped while it was read", () => {
    const histories = new Histories(whole(root, 3).length + 10);
    ask(histories, root, 3);
    const known = histories.known(root);
    ask(histories, another, 2);

    expect(histories.known(root)).toBe(0);
    expect(ask(histories, root, 4, known).body).toBeUndefined();
    histories.forget(another);
    expect(histories.known(another)).toBe(0);
  });
});
