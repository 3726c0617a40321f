/** Rows that keep their places while they are pointed at. */

export type Steady<Row> = {
  readonly shown: readonly Row[];
  /** Keys of rows that are shown and are not there any more. */
  readonly gone: ReadonlySet<string>;
  /** How many are not shown yet. */
  readonly coming: number;
};

/** `before`: what was shown, where it has to stay; empty where nothing has to. */
export function steady<Row>(
  now: readonly Row[],
  before: readonly Row[],
  keyOf: (row: Row) => string,
): Steady<Row> {
  if (before.length === 0) return { shown: now, gone: new Set(), coming: 0 };
  const byKey = new Map(now.map((row) => [keyOf(row), row]));
  const kept = new Set(before.map(keyOf));
  return {
    shown: before.map((row) => byKey.get(keyOf(row)) ?? row),
    gone: new Set([...kept].filter((key) => !byKey.has(key))),
    coming: now.filter((row) => !kept.has(keyOf(row))).length,
  };
}
