/** Stores for tests, in directories of their own that are removed when the test has ended. */
import { afterEach } from "@jest/globals";
import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { recordingLog, seededRandom, virtualClock, type VirtualClock } from "@posthaste/testing";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { type Embedded, type EmbeddedOptions, openEmbedded } from "./index.ts";

export type Opened = Embedded & { readonly clock: VirtualClock; readonly dataDir: string };

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

export function newDirectory(): string {
  const directory = temporaryFolder();
  closers.push(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Opens the store in `dataDir`. Closing may be repeated, so that a test may close the store and open it again. */
export function openIn(
  dataDir: string,
  given: Partial<EmbeddedOptions> & { clock?: VirtualClock } = {},
): Opened {
  const { clock = virtualClock(), ...options } = given;
  const embedded = openEmbedded({
    dataDir,
    clock,
    random: seededRandom(1),
    log: recordingLog(),
    reserveBytes: 0,
    ...options,
  });
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= embedded.close());
  closers.push(close);
  return { ...embedded, close, clock, dataDir };
}

/** Copies the files of a running store, as a killed process would leave them. */
export function copyOf({ dataDir }: Opened): string {
  const copy = newDirectory();
  for (const file of ["posthaste.db", "posthaste.db-wal"])
    copyFileSync(join(dataDir, file), join(copy, file));
  return copy;
}

/** Counts the rows of a table in the file, as another process sees them. */
export function countRows(dataDir: string, table: string): number {
  const db = new DatabaseSync(join(dataDir, "posthaste.db"), { readOnly: true });
  try {
    return Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"]);
  } finally {
    db.close();
  }
}
