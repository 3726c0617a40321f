/**
 * The standalones that the suites of a run share, one for each of Jest's workers (`start-standalones.ts`). Each has
 * the tenants of every suite from its start, since nothing can write into the store of a running standalone.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";

export type SharedStandalone = {
  readonly port: number;
  readonly managementPort: number;
  readonly outputFile: string;
};

type Shared = {
  /** Holds a folder for each suite that has taken its number. */
  readonly folder: string;
  readonly standalones: readonly SharedStandalone[];
};

const variable = "POSTHASTE_TEST_STANDALONES";
/** More than there are suites. */
export const suitesMax = 100;

export function shareStandalones(shared: Shared): void {
  process.env[variable] = JSON.stringify(shared);
}

/** Returns the standalone of this worker, or undefined if each suite starts its own, as those of `.alone.` do. */
export function sharedStandalone(): SharedStandalone | undefined {
  const worker = Number(process.env["JEST_WORKER_ID"] ?? 1);
  return shared()?.standalones[worker - 1];
}

/** Returns a number that no other suite of the run has. */
export function takeSuiteNumber(): number {
  const folder = shared()?.folder ?? "";
  for (let number = 0; number < suitesMax; number++)
    try {
      mkdirSync(join(folder, String(number)));
      return number;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  throw new Error(`the shared standalones have tenants for ${suitesMax} suites`);
}

function shared(): Shared | undefined {
  const text = process.env[variable];
  const isAlone = /\.alone\.e2e\.test\.ts$/.test(process.env["POSTHASTE_TEST_SUITE"] ?? "");
  return text === undefined || isAlone ? undefined : (JSON.parse(text) as Shared);
}
