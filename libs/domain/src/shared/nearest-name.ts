const editsMax = 3;

/**
 * Returns the name with the fewest edits to the given one, if they are few. A text much longer than any of `names` costs
 * nothing.
 */
export function nearestName(
  name: string,
  names: Iterable<string>,
  distanceMax = editsMax,
): string | undefined {
  let nearest: { readonly name: string; readonly distance: number } | undefined;
  for (const other of names) {
    if (Math.abs(other.length - name.length) > distanceMax) continue;
    const distance = editDistance(name, other);
    if (distance <= distanceMax && distance < (nearest?.distance ?? Infinity)) {
      nearest = { name: other, distance };
    }
  }
  return nearest?.name;
}

/** Counts edits row by row: leaving out, adding or replacing a letter, or swapping two neighbours, is one edit. */
function editDistance(a: string, b: string): number {
  let before: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replaced = (row[j] ?? 0) + (a[i] === b[j] ? 0 : 1);
      const isChanged = i > 0 && j > 0 && a[i] === b[j - 1] && a[i - 1] === b[j];
      const changed = isChanged ? (before[j - 1] ?? 0) + 1 : Infinity;
      next.push(Math.min(replaced, changed, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row[b.length] ?? 0;
}
