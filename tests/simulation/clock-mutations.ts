import { type Mutation, withPort } from "./mutate.ts";

/** Planted bugs that show when the clock of the store is set. */
export const clockMutations: readonly Mutation[] = [
  {
    name: "durations by a clock that is set",
    shownBy: "clocks",
    change: (ports) => withPort(ports, "clock", { passedMs: () => ports.clock.now() }),
  },
  {
    name: "leases judged by the clock as it was set",
    shownBy: "clocks",
    change: (ports, model) => {
      model.trustSetting();
      return ports;
    },
  },
];
