/**
 * Retry delays by expression (port `RetryDelays`), on mathjs. An expression is compiled once and kept with the result
 * of its check; publish checks it, so that no delivery is the first to use it.
 *
 * The caller decides how many expressions are new, so a check is bounded in steps, whatever the expression and its
 * number of retries: about a millisecond.
 */
import { backoffMs, clampRetryDelayMs, fault, limits, TextCache } from "@posthaste/domain";
import { type RetryDelays } from "@posthaste/ports";
import { compileExpression, type Expression, isWholeNumber, loadedMathjs } from "./expression.ts";

const expressionsMax = 1_000;
/** Steps that one check may take, a fraction of a microsecond each. */
const stepsMax = 2_500;
/** The least number of values that are checked, for the longest expression. */
const valuesMin = 8;

export type RetryDelaysOptions = {
  /** Whether to load mathjs now. Otherwise the first expression waits for it, and so does everything else, for half a second. */
  readonly loadedAhead?: boolean;
};

export function retryDelays({ loadedAhead = false }: RetryDelaysOptions = {}): RetryDelays {
  if (loadedAhead) loadedMathjs();
  const known = new TextCache<Kept>({
    entriesMax: expressionsMax,
    lengthMax: limits.expressionLengthMax,
  });
  function compiled(text: string): Kept {
    const found = known.get(text);
    if (found) return found;
    const fresh = keep(text);
    known.set(text, fresh);
    return fresh;
  }
  return {
    check: (text, retriesMax, field, spend) => {
      const isWork =
        text.length <= limits.expressionLengthMax && !isWholeNumber(text) && !known.has(text);
      const refused = isWork ? spend?.() : undefined;
      if (refused) return refused;
      const { expression, firstNotFinite } = compiled(text);
      if (expression.kind === "refused") return fault("malformed", `${field}: ${expression.why}`);
      const retried = firstNotFinite(retriesMax);
      if (retried === undefined) return undefined;
      return fault("malformed", `${field}: is not a finite number when retried is ${retried}`);
    },
    delayMs: (text, retried) => {
      const { expression } = compiled(text);
      const value = expression.kind === "refused" ? Number.NaN : expression.valueAt(retried);
      // For records of another version, since publish checks others. A delivery must not fail on an expression.
      return clampRetryDelayMs(Number.isFinite(value) ? value : backoffMs(retried, 0));
    },
  };
}

type Kept = {
  readonly expression: Expression;
  /** Returns the lowest `retried` below `end` whose value was found not to be finite. */
  readonly firstNotFinite: (end: number) => number | undefined;
};

/** Keeps the result: the thousandth publish with an expression evaluates nothing. */
function keep(text: string): Kept {
  const expression = compileExpression(text);
  if (expression.kind === "refused") return { expression, firstNotFinite: () => undefined };
  let finiteUpTo = 0;
  let notFiniteAt: number | undefined;
  const firstNotFinite = (end: number): number | undefined => {
    if (notFiniteAt === undefined || notFiniteAt >= end) {
      if (end <= finiteUpTo) return undefined;
      notFiniteAt = lookForNotFinite(expression, end);
      if (notFiniteAt === undefined) finiteUpTo = end;
    }
    return notFiniteAt;
  };
  return { expression, firstNotFinite };
}

type Compiled = Extract<Expression, { readonly kind: "compiled" }>;

/**
 * Evaluates every `retried` below `end` if the steps allow it. Otherwise evaluates the first ones, and as many again
 * spread over the rest, the last among them: an expression that grows beyond all numbers does so to the end. A value
 * missed here falls back to the default back-off at delivery.
 */
function lookForNotFinite({ steps, valueAt }: Compiled, end: number): number | undefined {
  const isFinite = (retried: number): boolean => Number.isFinite(valueAt(retried));
  const looks = Math.min(end, Math.max(valuesMin, Math.floor(stepsMax / steps)));
  const inRow = looks === end ? end : Math.floor(looks / 2);
  for (let retried = 0; retried < inRow; retried++) if (!isFinite(retried)) return retried;
  let finiteAt = inRow - 1;
  for (let look = inRow + 1; look <= looks; look++) {
    const retried = inRow - 1 + Math.ceil(((look - inRow) / (looks - inRow)) * (end - inRow));
    if (!isFinite(retried)) return between(finiteAt, retried, isFinite);
    finiteAt = retried;
  }
  return undefined;
}

/** Halves the range between a finite value and one that is not, down to two neighbours. */
function between(
  finiteAt: number,
  notFiniteAt: number,
  isFinite: (retried: number) => boolean,
): number {
  if (notFiniteAt - finiteAt <= 1) return notFiniteAt;
  const middle = Math.floor((finiteAt + notFiniteAt) / 2);
  return isFinite(middle)
    ? between(middle, notFiniteAt, isFinite)
    : between(finiteAt, middle, isFinite);
}
