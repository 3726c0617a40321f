/** The client for Node, over got: connections of its own that `close` ends, agents, and a timeout for connecting. */
import { type Client, type ClientOptions, clientOver } from "./client.ts";
import { type Management, type ManagementOptions, managementOver } from "./management.ts";
import { type NodeOptions, overGot } from "./over-got.ts";

export const createClient = (options: ClientOptions & NodeOptions): Client =>
  clientOver(options, overGot(options));

export const createManagement = (options: ManagementOptions & NodeOptions): Management =>
  managementOver(options, overGot(options));

export { type NodeOptions } from "./over-got.ts";
