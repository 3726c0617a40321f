import { type Scenario } from "../stage.ts";

const answeredMeanwhile = 40;
const deliveredMeanwhile = 20;
const inLanesMeanwhile = 3;

export const kafkaKilled: Scenario = {
  name: "kafka",
  promise:
    "Kafka killed and started again: every publish is answered, and deliveries go on meanwhile, in lanes, too",
  run: async (stage) => {
    const { kafka } = stage.cluster;
    await stage.acknowledged(answeredMeanwhile);
    await stage.during(
      { what: "Kafka killed", leaves: [] },
      {
        begin: () => kafka.process.kill(),
        meanwhile: () =>
          Promise.all([
            stage.acknowledged(answeredMeanwhile),
            stage.delivered(deliveredMeanwhile, "in no lane"),
            stage.delivered(inLanesMeanwhile, "in lanes"),
          ]),
        heal: () => kafka.process.restart(),
      },
    );
    await stage.delivered(deliveredMeanwhile, "in no lane");
  },
};

/** A stopped broker does not end its connections: requests to it are never acknowledged. */
export const kafkaStopped: Scenario = {
  name: "kafka-stopped",
  promise: "Kafka stopped (SIGSTOP), then going on (SIGCONT): every publish is answered",
  run: async (stage) => {
    const { kafka } = stage.cluster;
    await stage.during(
      { what: "Kafka stood still", leaves: [] },
      {
        begin: () => kafka.process.pause(),
        meanwhile: () =>
          Promise.all([
            stage.acknowledged(answeredMeanwhile),
            stage.delivered(deliveredMeanwhile, "in no lane"),
          ]),
        heal: () => kafka.process.resume(),
      },
    );
    await stage.delivered(deliveredMeanwhile, "in no lane");
  },
};
