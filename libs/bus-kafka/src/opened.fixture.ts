/** Buses on the broker of the stack, with topics of their own. */
import { systemClock } from "@posthaste/process";
import { recordingLog, type RecordingLog, testStores } from "@posthaste/testing";
import { randomUUID } from "node:crypto";
import { type KafkaBus, type KafkaBusOptions, openKafkaBus } from "./index.ts";

export type OpenBuses = {
  readonly brokers: readonly string[];
  readonly prefix: string;
  readonly log: RecordingLog;
  /** Opens the bus as another process would. */
  readonly open: (given?: Partial<KafkaBusOptions>) => Promise<KafkaBus>;
  readonly close: () => Promise<void>;
};

export function openBuses(brokers: readonly string[] = brokersOfStack()): OpenBuses {
  const prefix = `test-${randomUUID()}.`;
  const log = recordingLog(false);
  const opened: KafkaBus[] = [];
  return {
    brokers,
    prefix,
    log,
    open: async (given = {}) => {
      const bus = await openKafkaBus({
        brokers,
        prefix,
        clientId: `test-${opened.length}`,
        partitions: 4,
        clock: systemClock(),
        log,
        fatal: (error) => log.error("test.fatal", { error }),
        ...given,
      });
      opened.push(bus);
      return bus;
    },
    close: async () => {
      await Promise.all(opened.map((bus) => bus.close()));
    },
  };
}

function brokersOfStack(): readonly string[] {
  const { kafka } = testStores();
  if (!kafka) throw new Error("the stack has no Kafka");
  return kafka.brokers;
}
