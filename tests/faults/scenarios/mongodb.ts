import { type Leave } from "../history/journal.ts";
import { type Scenario, type Stage } from "../stage.ts";

const slowMs = 100;
const answeredMeanwhile = 30;
const refusedMeanwhile = 3;
const deliveredAfterwards = 20;
const leaves: readonly Leave[] = ["refuse", "repeat"];

export const storeSlow: Scenario = {
  name: "store-slow",
  promise: "a store that takes a tenth of a second more for each answer: nothing is refused",
  run: async (stage) => {
    const { cluster } = stage;
    const delay = (ms: number): void => {
      for (const service of cluster.services.all)
        cluster.proxiesOf(service).mongodb.delay("reply", ms);
    };
    await stage.during(
      { what: "the store was slow", leaves: [] },
      {
        begin: () => delay(slowMs),
        meanwhile: () => stage.delivered(answeredMeanwhile, "in no lane"),
        heal: () => delay(0),
      },
    );
  },
};

export const storeKilled: Scenario = {
  name: "store-killed",
  promise: "the store killed and started again, then stopped (SIGSTOP) and going on (SIGCONT)",
  run: async (stage) => {
    const { mongodb } = stage.cluster;
    await stage.acknowledged(answeredMeanwhile);
    await refusing(stage, "the store killed", {
      begin: () => mongodb.process.kill(),
      heal: () => mongodb.process.restart(),
    });
    await stage.delivered(deliveredAfterwards, "in no lane");
    await refusing(stage, "the store stood still", {
      begin: () => mongodb.process.pause(),
      heal: () => mongodb.process.resume(),
    });
    await stage.delivered(deliveredAfterwards, "in no lane");
  },
};

const refusing = (
  stage: Stage,
  what: string,
  acts: { readonly begin: () => unknown; readonly heal: () => unknown },
): Promise<void> =>
  stage.during({ what, leaves }, { ...acts, meanwhile: () => stage.refused(refusedMeanwhile) });
