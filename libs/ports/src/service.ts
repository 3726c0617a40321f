/** Something that runs. `stop` finishes what is running, within the drain time that its owner was configured with. */
export interface Service {
  readonly name: string;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** For a start that waits for other services: it waits no longer, and rejects. */
  giveUp?(): void;
}
