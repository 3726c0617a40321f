/** Where a server of the stack lives, and what all of them have in common. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Observer, type ProcessControls } from "../process/server-process.ts";

export type ServerPlace = Observer & {
  /** Its data are in a folder of their own below this one, and stay there when it ends. */
  readonly dir: string;
  /** A free one when absent. */
  readonly port?: number;
};

export type RunningServer = {
  /** What it is, with its version: stands in every line that mentions it. */
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly process: ProcessControls;
};

/** A member of a replica set of MongoDB's; `uri` finds the set by this member. */
export type RunningMongo = RunningServer & { readonly uri: string };

export type RunningMongoSet = {
  readonly name: string;
  readonly uri: string;
  readonly members: readonly RunningMongo[];
  /** Rejects while there is none. */
  primary(): Promise<RunningMongo>;
  stop(): Promise<void>;
};

export function dataFolder({ dir }: ServerPlace, name: string): string {
  const folder = join(dir, name);
  mkdirSync(folder, { recursive: true });
  return folder;
}
