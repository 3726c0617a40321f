/** This build in the place of the last release's packed files, under load: of the six services one process after the other, and back. */
import { afterAll, beforeAll, describe, expect, it, jest } from "@jest/globals";
import { seededChance } from "../chance.ts";
import { playEach } from "../each-scenario.ts";
import { type Run, startRun } from "../run.ts";
import { type Scenario } from "../stage.ts";
import { startCluster } from "../world/cluster.ts";
import { until } from "../world/until.ts";
import { lastRelease } from "./last-release.ts";
import { type Standalone, startStandalone } from "./standalone.ts";

/** The release may have to be packed. */
const startMsMax = 900_000;
const playMsMax = 900_000;
const seed = 20_261_127;
const acknowledgedBefore = 60;

/** The names of the processes that run this build from their next start on. */
const upgraded = new Set<string>();

const toThisBuild: Scenario["run"] = async (stage) => {
  for (const service of stage.cluster.services.all) {
    upgraded.add(service.name);
    await stage.restart(service);
  }
};

const upgrade: Scenario = {
  name: "upgrade",
  promise:
    "each process of the last release replaced by one of this build: nothing is repeated, and only the gateway's callers notice",
  run: toThisBuild,
};

const back: Scenario = {
  name: "back",
  promise: "and each replaced by one of the last release again, in the opposite order",
  run: async (stage) => {
    for (const service of stage.cluster.services.all.toReversed()) {
      upgraded.delete(service.name);
      await stage.restart(service);
    }
  },
};

/** Lists of the last release need not show all that this build has done meanwhile. */
const again: Scenario = {
  name: "again",
  promise: "and each by one of this build once more",
  run: toThisBuild,
};

playEach("services of two versions", [upgrade, back, again], async () => {
  const { image } = await lastRelease();
  return startCluster({
    rootOf: (service, number) => (upgraded.has(`${service} ${number}`) ? undefined : image),
  });
});

describe("a standalone of the last release, replaced by this build after a kill,", () => {
  let server: Standalone;
  let run: Run<Standalone>;

  beforeAll(async () => {
    // The workflow SDK prints each failed request.
    jest.spyOn(console, "error").mockImplementation(() => undefined);
    jest.spyOn(console, "warn").mockImplementation(() => undefined);
    server = await startStandalone(await lastRelease());
    run = await startRun(server);
    // Shown by `npm test`.
    process.stdout.write(`\nagainst: ${server.against.join()}\n`);
  }, startMsMax);

  afterAll(() => run.stop(), playMsMax);

  it(
    "loses nothing, continues runs, queues and schedules at their places, and its log has the events of the older build",
    async () => {
      const replaced: Scenario<Standalone> = {
        ...{ name: "replaced", promise: "" },
        run: async (stage) => {
          await stage.acknowledged(acknowledgedBefore);
          await stage.during(
            { what: "the server replaced", leaves: ["repeat", "break", "refuse"] },
            {
              begin: () => server.services.gateway.process.kill(),
              meanwhile: () => Promise.resolve(server.upgrade()),
              heal: () => server.services.gateway.process.restart(),
            },
          );
          await stage.acknowledged(acknowledgedBefore);
          const before = run.journal.firings.length;
          await until("a schedule has fired", () => run.journal.firings.length > before);
        },
      };
      run.begin();
      await run.play(replaced, seededChance(seed));
      await run.end();

      const verdict = run.verdict();
      const { violations } = verdict;
      expect(violations.length === 0 ? [] : [...violations, run.save()]).toEqual([]);
      expect(verdict.acknowledged).toBeGreaterThanOrEqual(2 * acknowledgedBefore);
      expect(verdict.runs).toBeGreaterThan(0);
      expect(verdict.fired).toBeGreaterThan(0);
    },
    playMsMax,
  );
});
