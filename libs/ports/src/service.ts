/** A component that runs. `stop` finishes the running work within the drain time that the owner configured. */
export interface Service {
  readonly name: string;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Makes a start that waits for other services stop waiting and reject. */
  giveUp?(): void;
}
