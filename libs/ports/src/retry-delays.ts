import { type Fault } from "@posthaste/domain";

/** The language of `-Retry-Delay` (docs/design/wire#retry-delays). */
export interface RetryDelays {
  /**
   * Undefined when the expression is fine for every retry up to `retriesMax`. `spend` is asked before work is done on one that
   * is not known; what it answers is the answer then, and nothing is done.
   */
  check(
    expression: string,
    retriesMax: number,
    field: string,
    spend?: () => Fault | undefined,
  ): Fault | undefined;
  /** Milliseconds before the retry after `retried` retries; never throws for a checked expression. */
  delayMs(expression: string, retried: number): number;
}
