/** A server as tests use it, whatever its shape. */
import { type Client } from "./client.ts";

export type Settings = {
  /** Variables for the process, or for all six. */
  readonly env?: Readonly<Record<string, string>>;
  /** A read-only token of the first development user. */
  readonly readOnlyToken?: string;
  /** Starts own processes where suites share some: to check all that they print, or since the suite would disturb the rest. */
  readonly ownProcesses?: boolean;
};

export type TestServer = {
  readonly port: number;
  /** A standalone without the operator's credentials does not listen here. */
  readonly managementPort: number;
  readonly client: Client;
  /** Returns the output of the processes. Processes that suites share print about other suites, too. */
  readonly output: () => string;
  stop(): Promise<void>;
};
