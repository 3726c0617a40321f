/**
 * Retry delays by expression (port `RetryDelays`): an expression is compiled once and kept; publish checks it, so that
 * no delivery meets it for the first time. An entry of its own: who evaluates nothing need not load mathjs.
 */
import { backoffMs, clampRetryDelayMs, fault } from "@posthaste/domain";
import { type RetryDelays } from "@posthaste/ports";
import { compileExpression, type Expression, loadedMathjs } from "./retry-delay-expression.ts";

/** Compiled expressions are kept up to this many; the least recently used gives way. */
const expressionsMax = 1_000;
/** Where a plan allows more retries, the rest is evaluated only at delivery. */
const retriesCheckedMax = 1_000;

export type RetryDelaysOptions = {
  /** mathjs is loaded now; else the first expression waits for it, and half a second long all else does. */
  readonly loadedAhead?: boolean;
};

export function retryDelays({ loadedAhead = false }: RetryDelaysOptions = {}): RetryDelays {
  if (loadedAhead) loadedMathjs();
  const compiled = leastRecentlyUsed(expressionsMax, kept);
  return {
    check: (text, retriesMax, field) => {
      const { expression, firstNotFinite } = compiled(text);
      if (expression.kind === "refused") return fault("malformed", `${field}: ${expression.why}`);
      const retried = firstNotFinite(Math.min(retriesMax, retriesCheckedMax));
      if (retried === undefined) return undefined;
      return fault("malformed", `${field}: is no finite number when retried is ${retried}`);
    },
    delayMs: (text, retried) => {
      const { expression } = compiled(text);
      const value = expression.kind === "refused" ? Number.NaN : expression.valueAt(retried);
      // Publish has checked it: this is for records of another version. A delivery must not stop on one.
      return clampRetryDelayMs(Number.isFinite(value) ? value : backoffMs(retried, 0));
    },
  };
}

type Kept = {
  readonly expression: Expression;
  /** The lowest `retried` below `end` at which the value is not finite. */
  readonly firstNotFinite: (end: number) => number | undefined;
};

/** Remembers how far it was found finite: the thousandth publish with an expression evaluates nothing. */
function kept(text: string): Kept {
  const expression = compileExpression(text);
  if (expression.kind === "refused") return { expression, firstNotFinite: () => undefined };
  let finiteUpTo = 0;
  const firstNotFinite = (end: number): number | undefined => {
    while (finiteUpTo < end && Number.isFinite(expression.valueAt(finiteUpTo))) finiteUpTo += 1;
    return finiteUpTo < end ? finiteUpTo : undefined;
  };
  return { expression, firstNotFinite };
}

function leastRecentlyUsed<T>(entriesMax: number, make: (key: string) => T): (key: string) => T {
  // A Map iterates in order of insertion: the first key is the one not used for longest.
  const entries = new Map<string, T>();
  return (key) => {
    const entry = entries.get(key) ?? make(key);
    entries.delete(key);
    entries.set(key, entry);
    if (entries.size > entriesMax) {
      const oldest = entries.keys().next();
      if (!oldest.done) entries.delete(oldest.value);
    }
    return entry;
  };
}
