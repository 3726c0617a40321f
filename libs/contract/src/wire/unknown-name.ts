/** Faults of unknown names in a body or a query: a misspelt name must not be silently without effect. */

const nameLengthMax = 64;

/** Returns the fault's text: the name, the known names, and the nearest of these if one is near. */
export function unknownText(
  kind: "field" | "parameter",
  name: string,
  known: Iterable<string>,
): string {
  const names = [...known];
  const shown = JSON.stringify(name.slice(0, nameLengthMax));
  const others = names.length > 0 ? `known names: ${names.join(", ")}` : "no names are known here";
  const near = names.length > 1 ? nearest(name, names) : undefined;
  return `unknown ${kind} ${shown}; ${others}${near === undefined ? "" : `; did you mean ${near}?`}`;
}

/** Returns the known name with at most a third of the letters wrong, ignoring case and separators between words. */
function nearest(name: string, known: readonly string[]): string | undefined {
  if (name.length > nameLengthMax) return undefined;
  const given = letters(name);
  const [best] = known
    .map((each) => ({ each, slips: slipsBetween(given, letters(each)) }))
    .filter(({ each, slips }) => slips * 3 <= letters(each).length)
    .toSorted((a, b) => a.slips - b.slips);
  return best?.each;
}

const letters = (name: string): string => name.toLowerCase().replaceAll(/[-_.\s]/g, "");

/**
 * Counts letters to add, remove, change or swap with the next: the distance of Damerau and Levenshtein, between names alone.
 */
function slipsBetween(a: string, b: string): number {
  let before: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = at(last, j - 1) + Number(a[i - 1] !== b[j - 1]);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? at(before, j - 2) + 1 : Infinity;
      row.push(Math.min(at(last, j) + 1, at(row, j - 1) + 1, changed, swapped));
    }
    before = last;
    last = row;
  }
  return at(last, b.length);
}

const at = (row: readonly number[], index: number): number => row[index] ?? Infinity;
