/** Plain numbers that only grow, for the export of metrics. */
export type Counts = {
  /** Produce requests begun, and those that failed and are repeated. */
  sends: number;
  sendFailures: number;
  /** Events acknowledged by the brokers, and the Kafka messages that they went in. */
  events: number;
  messages: number;
  hintsDropped: number;
  /** Events that a broker refuses for their content. */
  refused: number;
  /** Events that handlers have taken. */
  heard: number;
  handlerFailures: number;
  /** Partitions paused, since too much was in hand. */
  pauses: number;
  parked: number;
  /** Partitions of facts where what was to be heard next had been removed by the broker, unheard. */
  placesLost: number;
  commits: number;
  rebalances: number;
  /** Consumers that ended and were started again. */
  consumerRestarts: number;
};

export const newCounts = (): Counts => ({
  sends: 0,
  sendFailures: 0,
  events: 0,
  messages: 0,
  hintsDropped: 0,
  refused: 0,
  heard: 0,
  handlerFailures: 0,
  pauses: 0,
  parked: 0,
  placesLost: 0,
  commits: 0,
  rebalances: 0,
  consumerRestarts: 0,
});
