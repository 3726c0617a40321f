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
type Watch = {
  readonly part: string;
  readonly need: Need;
  readonly reasonOf: () => string | undefined;
};

export function createReadiness(): Readiness {
  const reasons = new Map<string, string>();
  const watches: Watch[] = [];
  const away = (need: Need): string[] =>
    watches.flatMap((watch) => {
      const reason = watch.need === need ? watch.reasonOf() : undefined;
      return reason === undefined ? [] : [`${watch.part}: ${reason}`];
    });
  return {
    set: (part, reason) => {
      if (reason === undefined) reasons.delete(part);
      else reasons.set(part, reason);
    },
    watch: (part, need, reasonOf) => void watches.push({ part, need, reasonOf }),
    missing: () => [
      ...[...reasons].map(([part, reason]) => `${part}: ${reason}`),
      ...away("needed"),
    ],
    degraded: () => away("helpful"),
  };
}
