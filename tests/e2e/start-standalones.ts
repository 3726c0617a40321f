/** Jest's global setup of the gate `end-to-end`, whose suites would otherwise mostly start a standalone each. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { developmentUsers } from "@posthaste/http";
import { type AloneServer, startSeeded } from "./alone.ts";
import { buildConsole } from "./console-folder.ts";
import { sharedEnv } from "./shared-env.ts";
import { shareStandalones, suitesMax } from "./shared-standalones.ts";
import { usersOfSuite } from "./users.ts";

export default async function start({
  maxWorkers,
}: {
  readonly maxWorkers: number;
}): Promise<void> {
  buildConsole();
  const folder = mkdtempSync(join(tmpdir(), "posthaste-e2e-"));
  const ofSuites = Array.from({ length: suitesMax }, (_, number) => usersOfSuite(String(number)));
  // The dev profile makes its own users only in an empty store.
  const seeds = [{ users: developmentUsers }, ...ofSuites];
  const startShared = async (_: unknown, number: number) => {
    const outputFile = join(folder, `output-${number}`);
    return { outputFile, ...(await startSeeded(sharedEnv, seeds, outputFile)) };
  };
  const standalones = await Promise.all(Array.from({ length: maxWorkers }, startShared));
  started.standalones = standalones;
  started.folder = folder;
  shareStandalones({
    folder,
    standalones: standalones.map(({ port, managementPort, outputFile }) => ({
      ...{ port, managementPort, outputFile },
    })),
  });
}

/** Global, since Jest may load this module a second time for the teardown. */
export const started = globalThis as {
  standalones?: readonly AloneServer[];
  folder?: string;
};
