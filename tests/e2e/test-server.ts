/** What a test needs of a server, whatever its shape. */
import { type Client } from "./client.ts";

export type Settings = {
  /** Variables of its environment; of all six processes where there are six. */
  readonly env?: Readonly<Record<string, string>>;
  /** A token of the first development user that may only read. */
  readonly readOnlyToken?: string;
  /** Where suites share six processes this one has its own: for what they print, or since it would disturb the rest. */
  readonly ownProcesses?: boolean;
};

export type TestServer = {
  /** Of the gateway. */
  readonly port: number;
  /** There is no listener in a standalone without the operator's credentials. */
  readonly managementPort: number;
  readonly client: Client;
  /** All that its processes have printed. */
  readonly output: () => string;
  stop(): Promise<void>;
};
