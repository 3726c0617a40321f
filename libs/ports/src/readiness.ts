/**
 * What is still missing before this process should be given work; `/readyz` shows it. What only helps (a process that
 * does without it is slower, not wrong) is shown, too, and does not count.
 */
export type Readiness = {
  /** `reason` undefined: nothing of `part` is missing any more. */
  set(part: string, reason: string | undefined): void;
  /** Asked each time: a reason while `part` is away. */
  watch(part: string, need: Need, reasonOf: () => string | undefined): void;
  /** Empty: ready. */
  missing(): readonly string[];
  /** Parts that only help and are away. */
  degraded(): readonly string[];
};

export type Need = "needed" | "helpful";
