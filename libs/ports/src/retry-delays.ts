import { type Fault } from "@posthaste/domain";

/** The language of `-Retry-Delay` (docs/design/wire#retry-delays). */
export interface RetryDelays {
  /**
   * Returns undefined when the expression is valid for every retry up to `retriesMax`. Calls `spend` before checking an unknown
   * expression; a fault that `spend` returns becomes the result, and nothing is checked.
   */
  check(
    expression: string,
    retriesMax: number,
    field: string,
    spend?: () => Fault | undefined,
  ): Fault | undefined;
  /** Returns the milliseconds before the next retry, after `retried` retries. Never throws for a checked expression. */
  delayMs(expression: string, retried: number): number;
}
