/** A run: a cluster, under load while scenarios break it one after the other, with a verdict on the whole. */
import { openDocuments } from "@posthaste/documents-mongo";
import { allShards } from "@posthaste/domain";
import { isStoreError } from "@posthaste/ports";
import { parts } from "../e2e/seed.ts";
import { developmentToken } from "../e2e/server-process.ts";
import { check, type Verdict } from "./history/checker.ts";
import { type Arrival, type History, Journal } from "./history/journal.ts";
import { unfinished } from "./history/unfinished.ts";
import { type Scenario, Stage } from "./stage.ts";
import { type Cluster, type Database } from "./world/cluster.ts";
import { Destination } from "./world/destination.ts";
import { lookUp } from "./world/letters.ts";
import { Load } from "./world/load.ts";
import { endedIn } from "./world/message-log.ts";
import { type Target } from "./world/publish.ts";
import { makeQueues } from "./world/queues.ts";
import { Schedules } from "./world/schedules.ts";
import { until } from "./world/until.ts";
import { Workflows } from "./world/workflows.ts";

export type Run<Of extends Cluster> = {
  readonly journal: History;
  /** Begins the load, which continues until `rest`. */
  begin(runsPerSecond?: number): void;
  play(scenario: Scenario<Of>, chance: () => number): Promise<void>;
  /** Ends the load. Resolves when all messages and runs have ended, or never will. */
  rest(): Promise<void>;
  /**
   * Ends the load. Resolves when all messages and runs have ended, each slot that has come due has fired, the
   * schedules are removed, and the message log has every end.
   */
  end(): Promise<void>;
  verdict(): Verdict;
  /** Saves the journals, and returns their folder. */
  save(): string;
  stop(): Promise<void>;
};

/** Two runs take place at the same time on two cores: at a higher rate publishes are refused, which is another promise. */
const publishesPerSecond = 8;
export const runsPerSecondDefault = 0.3;
/** Published at the beginning of each scenario; they keep their lane busy for some while. */
const pacedAtOnce = 12;
/** A message or run that has not ended by then is lost. */
const restMsMax = 240_000;

export async function startRun<Of extends Cluster>(cluster: Of): Promise<Run<Of>> {
  const journal = new Journal();
  let isOver = false;
  const destination = await Destination.start(
    (arrival) => {
      journal.arrivals.push(arrival);
      void read(arrival);
    },
    (firing) => void journal.firings.push(firing),
  );
  const target: Target = {
    port: cluster.services.gateway.port,
    token: developmentToken,
    destination: destination.url,
  };
  const read = async ({ tells }: Arrival): Promise<void> => {
    if (tells?.dlqId === undefined) return;
    const letter = await lookUp(target, tells.dlqId, () => isOver);
    if (letter) journal.letters.push(letter);
  };
  await makeQueues(target);
  const schedules = await Schedules.make(target, journal);
  const load = new Load(target, journal);
  const workflows = await Workflows.open(target, journal);

  const rest = async (): Promise<void> => {
    await Promise.all([load.stop(), workflows.stop()]);
    const hasEnded = (): boolean => unfinished(journal).length === 0;
    await until("everything has ended", hasEnded, restMsMax).catch(() => undefined);
  };

  return {
    journal,
    begin: (runsPerSecond = runsPerSecondDefault) => {
      load.start(publishesPerSecond);
      workflows.start(runsPerSecond);
    },
    play: async (scenario, chance) => {
      const paced = load.burst("paced", pacedAtOnce);
      try {
        await scenario.run(new Stage({ cluster, load, destination, journal, chance }));
      } finally {
        destination.openGate();
        await paced;
      }
    },
    rest,
    end: async () => {
      await rest();
      await schedules.removeWhenFired();
      await until("the message log tells the end of all that was acknowledged", async () => {
        const ended = await endedIn(target);
        return ended !== undefined && journal.acks.every(({ id }) => ended.has(id));
      });
    },
    verdict: () => check(journal),
    save: () => journal.save(cluster.services.output()),
    stop: async () => {
      isOver = true;
      await Promise.all([load.stop(), workflows.close()]);
      await cluster.stop();
      await destination.stop();
    },
  };
}

/** Resolves when the store has nothing to do any more: no lease, no line, no outbox, no alarm. */
export async function untilIdle({ uri, database }: Database): Promise<void> {
  const documents = await openDocuments({ uri, database, ...parts });
  const nextAlarm = async (): Promise<number | undefined | "unknown"> => {
    try {
      return await documents.ports.alarms.next(allShards);
    } catch (error) {
      if (isStoreError(error)) return "unknown";
      throw error;
    }
  };
  await until("the store has nothing to do", async () => (await nextAlarm()) === undefined);
  await documents.close();
}
