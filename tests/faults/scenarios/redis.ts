import { type Scenario } from "../stage.ts";
import { flush } from "../world/cluster.ts";

const flushes = 2;
const afterFlush = 15;
const answeredMeanwhile = 30;
const deliveredMeanwhile = 20;
const inLanesMeanwhile = 5;

export const redisFlushed: Scenario = {
  name: "redis-flushed",
  promise: "Redis flushed in the middle of everything: limits hold",
  run: async (stage) => {
    for (let i = 0; i < flushes; i++) {
      await stage.acknowledged(afterFlush);
      await stage.during(
        { what: "Redis flushed", leaves: ["forget"] },
        {
          begin: () => flush(stage.cluster.redis),
          meanwhile: () => stage.acknowledged(afterFlush),
          heal: () => undefined,
        },
      );
    }
  },
};

export const redisKilled: Scenario = {
  name: "redis-killed",
  promise:
    "Redis killed and started again: only publishes that ask for deduplication are refused, with 503, and what is flow-controlled waits",
  run: async (stage) => {
    const { redis } = stage.cluster;
    await stage.acknowledged(answeredMeanwhile);
    await stage.during(
      {
        what: "Redis killed",
        leaves: ["refuse deduplicated", "forget"],
        stopsLanes: true,
      },
      {
        begin: () => redis.process.kill(),
        meanwhile: () =>
          Promise.all([
            stage.refused(1, "deduplicated"),
            stage.acknowledged(inLanesMeanwhile, "paired"),
            stage.acknowledged(answeredMeanwhile),
            stage.delivered(deliveredMeanwhile, "in no lane"),
          ]),
        heal: () => redis.process.restart(),
      },
    );
    await stage.delivered(inLanesMeanwhile, "in lanes");
  },
};
