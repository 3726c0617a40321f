/** An endurance run as a scenario: planned faults one after the other, and load until there were as many messages and runs as asked for. */
import { setTimeout as sleep } from "node:timers/promises";
import { type RunningService } from "@posthaste/local";
import { type History } from "../history/journal.ts";
import { runsPerSecondDefault } from "../run.ts";
import { type Scenario, type Stage } from "../stage.ts";
import { type ClusterOfThree, type Member } from "../world/cluster-of-three.ts";
import { free } from "../world/load.ts";
import { until } from "../world/until.ts";
import { leavesOf, planFaults, type Planned } from "./plan.ts";

export type Size = {
  readonly messages: number;
  readonly runs: number;
  /** How many of the ways are applied to each victim. */
  readonly waysEach: number;
  /** Messages in no lane and no queue, beside those of every scenario. */
  readonly perSecond: number;
  readonly runsPerSecond: number;
  /** When the load ends even if there were fewer; the faults are carried out whatever their time. */
  readonly minutesMax: number;
};

/** Two to three minutes. */
export const shortSize: Size = {
  messages: 2_000,
  runs: 20,
  waysEach: 1,
  perSecond: 20,
  runsPerSecond: runsPerSecondDefault,
  minutesMax: 30,
};

type Told = {
  readonly size: Size;
  readonly journal: History;
  /** Called with each fault as it begins. */
  readonly say: (what: object) => void;
};

/** Publishes between two faults, so that each fault hits a working cluster. */
const triedBetween = 20;
/** Calls under way at a deliverer. */
const heldAtOnce = 12;

export const endurance = ({ size, journal, say }: Told): Scenario<ClusterOfThree> => ({
  name: "endurance",
  promise:
    "each member of each store and each service killed, stopped and cut off: nothing acknowledged is lost, queues keep their order, a slot has one message, and each repeat has its fault",
  run: async (stage) => {
    const { members, services } = stage.cluster;
    const endsAt = performance.now() + size.minutesMax * 60_000;
    stage.load.start(size.perSecond, free);
    const victims = [...members, ...services.all];
    for (const planned of planFaults<Member | RunningService>(
      victims,
      size.waysEach,
      stage.chance,
    )) {
      await suffer(stage, planned, say);
      await stage.tried(triedBetween);
    }
    await until(
      "there are as many messages and runs as asked for",
      () => performance.now() > endsAt || lackOf(journal, size).length === 0,
      Infinity,
    );
  },
});

/** Returns the parts of the size that the run has not reached, in words. */
export const lackOf = (journal: History, { messages, runs }: Size): readonly string[] => [
  ...(messagesOf(journal) < messages ? [`${messages} messages`] : []),
  ...(journal.starts.length < runs ? [`${runs} runs`] : []),
];

export const messagesOf = ({ acks }: History): number => new Set(acks.map(({ id }) => id)).size;

async function suffer(
  stage: Stage<ClusterOfThree>,
  { victim, way, ms }: Planned<Member | RunningService>,
  say: (what: object) => void,
): Promise<void> {
  const isFirst = "store" in victim && (await victim.isFirst());
  const leaves = leavesOf(victim, way, isFirst);
  say({ fault: victim.name, way, ms, ...(isFirst && { isFirst }) });
  if ("service" in victim && victim.service === "deliverer") await stage.heldAtGate(heldAtOnce);
  const meanwhile = async (): Promise<void> => {
    stage.destination.openGate();
    await sleep(ms);
  };
  await stage.during({ what: `${victim.name} ${way}`, leaves }, { meanwhile, ...acts() });

  function acts() {
    const { process } = victim;
    switch (way) {
      case "killed":
        return { begin: () => process.kill(), heal: () => process.restart() };
      case "stopped":
        return { begin: () => process.pause(), heal: () => process.resume() };
      case "cut off":
        return "store" in victim ? cutMember(victim) : cutService(victim);
    }
  }
}

const cutMember = ({ proxy }: Member) => ({
  begin: () => {
    proxy.refuse(true);
    proxy.cut();
  },
  heal: () => proxy.refuse(false),
});

const cutService = ({ process }: RunningService) => ({
  begin: () => process.signal("SIGUSR2"),
  heal: () => process.signal("SIGUSR2"),
});
