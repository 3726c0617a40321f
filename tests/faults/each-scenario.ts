/** The suite of a list of scenarios: each is played once, one after the other, under one load. */
import { afterAll, beforeAll, describe, expect, it, jest } from "@jest/globals";
import { seededChance } from "./chance.ts";
import { type Run, startRun, untilIdle } from "./run.ts";
import { type Scenario } from "./stage.ts";
import { type LoneCluster, startCluster } from "./world/cluster.ts";

const seed = 20_261_122;
/** The stores may have to be fetched. */
const startMsMax = 1_500_000;
const playMsMax = 900_000;
/** The least number of messages in each scenario. */
const acknowledgedEach = 60;

/** `what` is the subject of the suite's name. */
export function playEach(
  what: string,
  scenarios: readonly Scenario[],
  start: () => Promise<LoneCluster> = startCluster,
): void {
  let cluster: LoneCluster;
  let run: Run<LoneCluster>;

  beforeAll(async () => {
    // The workflow SDK prints each failed request.
    jest.spyOn(console, "error").mockImplementation(() => undefined);
    jest.spyOn(console, "warn").mockImplementation(() => undefined);
    cluster = await start();
    run = await startRun(cluster);
    run.begin();
    // Shown by `npm test`.
    process.stdout.write(`\nagainst: ${cluster.against.join(", ")}\n`);
  }, startMsMax);

  afterAll(() => run.stop(), playMsMax);

  describe(`${what} under load lose nothing, repeat and refuse nothing without a cause, and keep their limits:`, () => {
    it.each(scenarios.map((scenario) => ({ ...scenario, scenario })))(
      "$promise",
      ({ scenario }) => run.play(scenario, seededChance(seed)),
      playMsMax,
    );

    it(
      "and afterwards no rule is broken, each slot of the schedules has had one message, nothing is left to do, and the message log has the end of everything",
      async () => {
        await run.end();
        await untilIdle(cluster);

        const { acknowledged, fired, runs, violations } = run.verdict();
        expect(violations.length === 0 ? [] : [...violations, `journals: ${run.save()}`]).toEqual(
          [],
        );
        expect(acknowledged).toBeGreaterThan(scenarios.length * acknowledgedEach);
        expect(runs).toBeGreaterThan(0);
        expect(fired).toBeGreaterThan(0);
      },
      playMsMax,
    );
  });
}
