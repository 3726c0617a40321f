/** What is still missing before this process should be given work; `/readyz` shows it. */
export type Readiness = {
  /** `reason` undefined: nothing of `part` is missing any more. */
  set(part: string, reason: string | undefined): void;
  missing(): readonly string[];
};

export function createReadiness(): Readiness {
  const reasons = new Map<string, string>();
  return {
    set: (part, reason) => {
      if (reason === undefined) reasons.delete(part);
      else reasons.set(part, reason);
    },
    missing: () => [...reasons].map(([part, reason]) => `${part}: ${reason}`),
  };
}
