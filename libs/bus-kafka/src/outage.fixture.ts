/**
 * Tests that share one outage of a broker: the broker is killed when all of them are ready, and started again when
 * each has seen enough. The broker's start and the patience of its clients take long, and elapse for all tests at
 * once.
 */
import { beforeAll, it } from "@jest/globals";
import { type RunningKafka } from "@posthaste/local";
import { openBuses, type OpenBuses } from "./opened.fixture.ts";

export type Outage = {
  readonly buses: OpenBuses;
  /** Reports that this test is ready; resolves when the broker is dead. */
  readonly away: () => Promise<void>;
  /** Reports that this test has seen enough of the outage; resolves when the broker is back. */
  readonly back: () => Promise<void>;
};

export type OutageTests = Readonly<Record<string, (outage: Outage) => Promise<void>>>;

export function testsOfOneOutage(kafka: () => RunningKafka, tests: OutageTests, msMax: number) {
  const titles = Object.keys(tests);
  const ready = gate(titles.length, () => kafka().process.kill());
  const seen = gate(titles.length, () => kafka().process.restart());
  const played = new Map<string, Promise<void>>();

  const play = async (test: (outage: Outage) => Promise<void>): Promise<void> => {
    const buses = openBuses(kafka().brokers);
    const [away, back] = [ready(), seen()];
    try {
      await test({ buses, away, back });
    } finally {
      // A test that has failed must not keep the others waiting.
      await away();
      await back();
      await buses.close();
    }
  };

  beforeAll(() => {
    for (const [title, test] of Object.entries(tests)) played.set(title, play(test));
  });
  it.each(titles)(
    "%s",
    async (title) => {
      await Promise.allSettled(played.values());
      await played.get(title);
    },
    msMax,
  );
}

/** Calls `act` when all parties have arrived. Returns the function that each party calls, as often as it likes. */
function gate(parties: number, act: () => Promise<unknown>): () => () => Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let missing = parties;
  return () => {
    let hasCome = false;
    return () => {
      if (!hasCome) {
        hasCome = true;
        missing -= 1;
        if (missing === 0) act().then(() => resolve(), reject);
      }
      return promise;
    };
  };
}
