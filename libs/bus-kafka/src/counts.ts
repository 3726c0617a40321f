/** Counts that only grow, for metrics. */
export type Counts = {
  /** Produce requests begun, and failed ones, which are repeated. */
  sends: number;
  sendFailures: number;
  /** Events acknowledged by the brokers, and the Kafka messages that contained them. */
  events: number;
  messages: number;
  hintsDropped: number;
  refused: number;
  heard: number;
  handlerFailures: number;
  pauses: number;
  parked: number;
  /** How often the broker had removed facts of a partition before they were handled. */
  placesLost: number;
  commits: number;
  rebalances: number;
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
