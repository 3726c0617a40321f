/** The faults of an endurance run: each member of a store and each process, killed, stopped or cut off, in an order that is drawn. */
import { type ServiceName } from "@posthaste/local";
import { type Leave } from "../history/journal.ts";
import { leavesOfKill } from "../stage.ts";
import { type StoreName } from "../world/cluster-of-three.ts";

export type Victim = { readonly name: string } & (
  | { readonly store: StoreName }
  | { readonly service: ServiceName }
);

const ways = ["killed", "stopped", "cut off"] as const;
export type Way = (typeof ways)[number];
export const waysMax = ways.length;

export type Planned<Of extends Victim> = {
  readonly victim: Of;
  readonly way: Way;
  readonly ms: number;
};

/** With fewer than two seconds no member is replaced; twelve are longer than the lease of a call and the session of a broker's client. */
const [msMin, msMax] = [2_000, 12_000];

/** Gives each victim as many ways as asked for. The first ways of neighbours differ, so that each way occurs even with few. */
export function planFaults<Of extends Victim>(
  victims: readonly Of[],
  waysEach: number,
  chance: () => number,
): readonly Planned<Of>[] {
  const first = Math.floor(chance() * ways.length);
  const planned = victims.flatMap((victim, i) =>
    ways.flatMap((_, turn): readonly Planned<Of>[] => {
      const way = ways[(first + i + turn) % ways.length];
      const ms = Math.round(msMin + chance() * (msMax - msMin));
      return way === undefined || turn >= waysEach ? [] : [{ victim, way, ms }];
    }),
  );
  return planned
    .map((each) => ({ each, at: chance() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ each }) => each);
}

/**
 * Returns the effects that the fault may have. `isFirst`: the writes of the victim's store pass through it. The loss
 * of any other member, and of any broker, is not noticed.
 */
export function leavesOf(victim: Victim, way: Way, isFirst: boolean): readonly Leave[] {
  if ("service" in victim) return leavesOfService(victim.service, way);
  switch (victim.store) {
    case "mongodb":
      return isFirst ? ["refuse", "repeat"] : [];
    case "redis":
      // The replica may not have received the last claims.
      return isFirst ? ["refuse deduplicated", "forget"] : [];
    case "kafka":
      return [];
  }
}

function leavesOfService(service: ServiceName, way: Way): readonly Leave[] {
  if (way === "killed") return leavesOfKill[service];
  switch (service) {
    case "gateway":
      return ["refuse", "refuse deduplicated"];
    case "deliverer":
      // The outcome of a call is not written in time; a stopped process does not know the time.
      return way === "stopped" ? ["repeat", "overlap"] : ["repeat"];
    case "scheduler":
    case "callback-dispatcher":
    case "workflow-log":
    case "management":
      return [];
  }
}
