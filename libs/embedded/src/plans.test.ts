/** Checks how the statements of the store find their rows: no cost grows with rows that are not returned. */
import { afterEach, beforeEach, expect, it } from "@jest/globals";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { newDirectory, openIn } from "./opened.fixture.ts";

/** `prepare`, called with the connection for which it prepares. */
const prepare: (this: DatabaseSync, sql: string) => StatementSync = Reflect.get(
  DatabaseSync.prototype,
  "prepare",
);
const prepared = new Map<string, DatabaseSync>();

beforeEach(() => {
  DatabaseSync.prototype.prepare = function (this: DatabaseSync, sql: string) {
    prepared.set(sql.replaceAll(/\s+/g, " ").trim(), this);
    return prepare.call(this, sql);
  };
});
afterEach(() => {
  DatabaseSync.prototype.prepare = prepare;
});

/** The statements that read a whole table, or all ended records that are not removed, once, when the store is opened. */
const atOpen = [
  /^SELECT key(, id)? FROM tenants$/,
  /INDEXED BY messages_ended/,
  /^SELECT position FROM messages INDEXED BY messages_by_alarm/,
];
/** Statements that end after a bounded number of rows, or read a table that is as long as their answer. */
const bounded = [
  /^SELECT min\(given_at\)/,
  /^SELECT 1 FROM terms LIMIT 1$/,
  /^SELECT count\(\*\) AS n FROM \( ?SELECT (1|DISTINCT run) .* LIMIT \?\)$/,
  /FROM search_indexes/,
  /^SELECT json FROM tenants/,
  /FROM tokens/,
];
const small = /^SCAN (\(?subquery|json_each|p VIRTUAL|\d+-ROW|CONSTANT|gone|r$|sqlite_)/;

it("no statement reads a table, or all rows of a range of states, for a few of them", () => {
  openIn(newDirectory());

  const wide: string[] = [];
  for (const [sql, db] of prepared) {
    if ([...atOpen, ...bounded].some((known) => known.test(sql))) continue;
    if (!/^(SELECT|UPDATE|DELETE|INSERT|WITH)/.test(sql)) continue;
    const plan = prepare.call(db, `EXPLAIN QUERY PLAN ${sql}`).all();
    for (const { detail } of plan) {
      const text = String(detail);
      const scans = text.startsWith("SCAN ") && !small.test(text);
      if (scans || /\bstate[<>]/.test(text)) wide.push(`${text}: ${sql}`);
    }
  }

  expect(wide).toEqual([]);
});
