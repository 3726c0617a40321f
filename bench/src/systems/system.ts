/** A measured system: takes a publish on a port and calls the destination. */
export type SystemName =
  | "bare relay"
  | "the least"
  | "the least, in two threads"
  | "posthaste"
  | "BullMQ"
  | "bare orchestrator"
  | "Restate"
  | "posthaste, before"
  | "posthaste apart"
  | "the least apart"
  | `posthaste apart, ${number} deliverer${"" | "s"}${"" | ", before"}`;

export type System = {
  readonly name: SystemName;
  readonly port: number;
  /** All processes that do the system's work, its servers included. */
  readonly pids: readonly number[];
  stop(): Promise<void>;
  output?(): string;
};

export type StartOptions = {
  /** The folder into which the system, if it can, writes a CPU profile when it stops. */
  readonly profilePath?: string;
};
export type StartSystem = (options: StartOptions) => Promise<System>;

export async function answersOk(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(1_000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}
