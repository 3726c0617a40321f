import { startBullMq, startLeast, startLeastInThreads, startRelay } from "./peers.ts";
import { startPosthaste } from "./posthaste.ts";
import { type StartSystem, type SystemName } from "./system.ts";

export const relay = ["bare relay", startRelay] as const;
export const posthaste = ["posthaste", startPosthaste] as const;
const bullMq = ["BullMQ", startBullMq] as const;
export const least = ["the least", startLeast] as const;
/** Shows what threads gain on the cores that carry the load as well. */
export const leastInThreads = ["the least, in two threads", startLeastInThreads] as const;

export const allSystems: readonly (readonly [SystemName, StartSystem])[] = [
  relay,
  posthaste,
  bullMq,
];
