/** The suite of a list of scenarios: one run, in which each is played once. */
import { afterAll, beforeAll, describe, expect, it, jest } from "@jest/globals";
import { seededChance } from "./chance.ts";
import { type Verdict } from "./history/checker.ts";
import { type Run, startRun, untilIdle } from "./run.ts";
import { type Scenario } from "./stage.ts";
import { type LoneCluster, startCluster } from "./world/cluster.ts";

const seed = 20_261_122;
/** The stores may have to be fetched. */
const startMsMax = 1_500_000;
const playMsMax = 900_000;
const acknowledgedAtLeast = 60;

/** Returns the broken rules, and where the journals were saved. */
const broken = (run: Run<LoneCluster>, { violations }: Verdict): readonly string[] =>
  violations.length === 0 ? [] : [...violations, `journals: ${run.save()}`];

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
    // Shown by `npm test`.
    process.stdout.write(`\nagainst: ${cluster.against.join(", ")}\n`);
  }, startMsMax);

  afterAll(() => run.stop(), playMsMax);

  describe(`${what} under load lose nothing, repeat and refuse nothing without a cause, and keep their limits:`, () => {
    it.each(scenarios.map((scenario) => ({ ...scenario, scenario })))(
      "$promise",
      async ({ scenario }) => {
        const verdict = await run.play(scenario, seededChance(seed));

        expect(broken(run, verdict)).toEqual([]);
        expect(verdict.acknowledged).toBeGreaterThan(acknowledgedAtLeast);
        expect(verdict.runs).toBeGreaterThan(0);
      },
      playMsMax,
    );

    it(
      "and when all is over each slot of the schedules that were there has had one message, nothing is left to do, and the message log tells the end of everything",
      async () => {
        await run.untilFired();
        await untilIdle(cluster);
        await run.untilLogged();

        const verdict = run.verdict();
        expect(broken(run, verdict)).toEqual([]);
        expect(verdict.fired).toBeGreaterThan(0);
      },
      playMsMax,
    );
  });
}
