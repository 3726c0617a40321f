import { afterEach, describe, expect, it } from "@jest/globals";
import { crc32 } from "node:zlib";
import { newId } from "@posthaste/testing";
import { type Database, openDatabase } from "../database/open.ts";
import { openParts } from "./parts.ts";
import { positionOfRun } from "./rows.ts";

let database: Database | undefined;
afterEach(() => database?.close());

/** Stores a run whose parts have the ranks below ten. */
function opened() {
  const { db } = (database = openDatabase(":memory:", { makeRoom: () => false }));
  const root = newId();
  const insert = db.prepare(
    "INSERT INTO run_parts (run, name, rank, at, crc, bytes) VALUES (?, ?, ?, 0, ?, ?)",
  );
  for (let rank = 0; rank < 10; rank++) {
    const bytes = Buffer.from(`${rank}`);
    insert.run(positionOfRun(root), `s${rank}`, rank, crc32(bytes), bytes);
  }
  const remove = (from: number, to: number): void =>
    void db.prepare("DELETE FROM run_parts WHERE rank BETWEEN ? AND ?").run(from, to);
  const { between } = openParts({ db });
  const ranks = (from: number, bytesMax = 100): readonly string[] =>
    between(root, from, 9, bytesMax).map(({ body }) => Buffer.from(body).toString());
  return { ranks, remove };
}

describe("entries of a history", () => {
  it("follow one another from the given rank, as many as fit into the bytes", () => {
    const { ranks } = opened();

    expect(ranks(7)).toEqual(["7", "8", "9"]);
    expect(ranks(0, 2)).toEqual(["0", "1"]);
  });

  it("are none if a sweep has begun to remove them, and end before the removed ones", () => {
    const { ranks, remove } = opened();
    remove(4, 5);

    expect(ranks(4)).toEqual([]);
    expect(ranks(2)).toEqual(["2", "3"]);
    expect(ranks(6)).toEqual(["6", "7", "8", "9"]);
  });
});
