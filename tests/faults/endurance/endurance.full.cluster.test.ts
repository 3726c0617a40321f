/** The short form of `npm run endure`. */
import { afterAll, beforeAll, describe, expect, it, jest } from "@jest/globals";
import { seededChance } from "../chance.ts";
import { type Run, startRun, untilIdle } from "../run.ts";
import { type ClusterOfThree, startClusterOfThree } from "../world/cluster-of-three.ts";
import { endurance, shortSize } from "./scenario.ts";

/** The stores may have to be fetched. */
const startMsMax = 1_500_000;
const playMsMax = 1_200_000;
const seed = Number(process.env["POSTHASTE_TEST_SEED"] ?? 1);

let cluster: ClusterOfThree;
let run: Run<ClusterOfThree>;

beforeAll(async () => {
  // The workflow SDK prints each failed request.
  jest.spyOn(console, "error").mockImplementation(() => undefined);
  jest.spyOn(console, "warn").mockImplementation(() => undefined);
  cluster = await startClusterOfThree();
  run = await startRun(cluster);
  // Shown by `npm test`.
  process.stdout.write(`\nagainst: ${cluster.against.join(", ")}\n`);
}, startMsMax);

afterAll(() => run.stop(), playMsMax);

describe("over three members of MongoDB, three brokers and a Redis with a replica", () => {
  it(
    "killing, stopping or cutting off each member and each service loses nothing, keeps queues in order and slots single, and each repeat has its fault",
    async () => {
      const { journal } = run;
      const scenario = endurance({ size: shortSize, journal, say: () => undefined });
      run.begin();
      await run.play(scenario, seededChance(seed));
      await run.end();
      await untilIdle(cluster);

      const verdict = run.verdict();
      const { violations } = verdict;
      expect(violations.length === 0 ? [] : [...violations, run.save()]).toEqual([]);
      expect(verdict.acknowledged).toBeGreaterThanOrEqual(shortSize.messages);
      expect(verdict.runs).toBeGreaterThanOrEqual(shortSize.runs);
      expect(verdict.fired).toBeGreaterThan(0);
    },
    playMsMax,
  );
});
