/** Where a server of the stack lives, and what all servers have in common. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Observer, type ProcessControls } from "../process/server-process.ts";
import { type Address } from "../proxy.ts";

export type ServerPlace = Observer & {
  /** The folder below which the server keeps its data. The data remain when it ends. */
  readonly dir: string;
  /** Default: a free port. */
  readonly port?: number;
};

/** Returns the address at which clients and other members find the server at `to`, such as that of a proxy in front of it. */
export type Road = (to: Address) => Promise<Address>;
export const straight: Road = (to) => Promise.resolve(to);

export type RunningServer = {
  /** The name with the version, for every line that mentions the server. */
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly process: ProcessControls;
};

/** A member of a MongoDB replica set. `uri` finds the set through this member. */
export type RunningMongo = RunningServer & { readonly uri: string };

export type RunningMongoSet = {
  readonly name: string;
  readonly uri: string;
  readonly members: readonly RunningMongo[];
  primary(): Promise<RunningMongo>;
  stop(): Promise<void>;
};

export function dataFolder({ dir }: ServerPlace, name: string): string {
  const folder = join(dir, name);
  mkdirSync(folder, { recursive: true });
  return folder;
}
