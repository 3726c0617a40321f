/** Keeps rows in place while the pointer is over them. */

export type Steady<Row> = {
  readonly shown: readonly Row[];
  /** The keys of shown rows that no longer exist. */
  readonly gone: ReadonlySet<string>;
  readonly coming: number;
};

/** `before`: the shown rows if they must stay, else empty. */
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
