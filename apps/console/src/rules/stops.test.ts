import { expect, it } from "@jest/globals";
import { stopsOf } from "./stops.ts";

const queue = (name: string, lag: number, paused = false) => ({
  ...{ name, lag, paused, createdAt: 0, updatedAt: 0, parallelism: 2 },
});
const key = (flowControlKey: string, waitListSize: number, isPaused = false) => ({
  ...{ flowControlKey, waitListSize, isPaused, parallelismMax: 2, parallelismCount: 2, rateMax: 5 },
  ...{ rateCount: 0, ratePeriod: 60, ratePeriodStart: 0 },
  ...{ isPinnedParallelism: false, isPinnedRate: false },
});

it("paused ones come before full ones, the most messages first; flowing ones are left out", () => {
  const stops = stopsOf(
    [queue("flows", 2), queue("long", 30), queue("stopped", 4, true)],
    [key("full", 90), key("idle", 0), key("off", 5, true)],
  );

  expect(stops.map(({ name, why, waiting }) => [name, why, waiting])).toEqual([
    ["off", "paused", 5],
    ["stopped", "paused", 4],
    ["full", "2 at once, 5 in 60 s", 90],
    ["long", "2 at once", 30],
  ]);
});
