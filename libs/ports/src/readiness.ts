/**
 * The parts that this process still lacks before it should be given work, shown by `/readyz`. Helpful parts, without
 * which the process is slower but not wrong, are shown too and do not count.
 */
export type Readiness = {
  /** Sets why `part` is missing; an undefined `reason` means that nothing of it is missing any more. */
  set(part: string, reason: string | undefined): void;
  /** Registers `reasonOf`, which is called at each reading and returns a reason while `part` is away. */
  watch(part: string, need: Need, reasonOf: () => string | undefined): void;
  /** Returns why the process is not ready; empty when it is ready. */
  missing(): readonly string[];
  /** Returns the helpful parts that are away. */
  degraded(): readonly string[];
};

export type Need = "needed" | "helpful";
