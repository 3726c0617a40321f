/** Hostile texts for the parsers' properties, and a count of how much of its input a parser reads. */
import * as fc from "fast-check";

/** Runs of each property; run a million by hand. */
export const fuzzRuns = Number(process.env["POSTHASTE_TEST_FUZZ_RUNS"] ?? 500);

/** Each of `pieces` may be followed by another of them, or by any text. */
export const hostileText = (pieces: readonly string[], maxLength = 12): fc.Arbitrary<string> =>
  fc
    .array(
      fc.oneof(
        { arbitrary: fc.constantFrom(...pieces), weight: 4 },
        { arbitrary: fc.string({ unit: "binary", maxLength: 4 }), weight: 1 },
      ),
      { maxLength },
    )
    .map((parts) => parts.join(""));

/** Counts reads of elements. Reading a part taken out counts as one read for each element of the part. */
export function counted<T extends readonly string[] | Uint8Array>(
  list: T,
): { readonly list: T; readonly reads: () => number } {
  let reads = 0;
  const seen = new Proxy(list, {
    get: (target, key) => {
      if (key === "subarray" && target instanceof Uint8Array)
        return (from = 0, to = target.length): Uint8Array => {
          reads += to - from;
          return target.subarray(from, to);
        };
      if (key === "indexOf" && target instanceof Uint8Array)
        return (byte: number, from = 0): number => {
          const found = target.indexOf(byte, from);
          reads += (found < 0 ? target.length : found + 1) - from;
          return found;
        };
      if (typeof key === "string" && /^\d/.test(key)) reads += 1;
      return Reflect.get(target, key, target);
    },
  });
  return { list: seen, reads: () => reads };
}
