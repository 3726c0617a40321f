import { type Need, type Readiness } from "@posthaste/ports";

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
