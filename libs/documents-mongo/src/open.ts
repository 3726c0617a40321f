/** All storage ports over one database. */
import { type Clock } from "@posthaste/ports";
import { allIndexes } from "./all-indexes.ts";
import { type Committed } from "./writes/committed.ts";
import { type Link, type LinkOptions, openLink } from "./link/link.ts";
import { createOldest } from "./oldest.ts";
import { type DocumentPorts, openPorts } from "./ports.ts";

export type DocumentsOptions = LinkOptions & {
  readonly committed?: Committed;
};

export type Documents = Pick<Link, "isUp" | "problem" | "building" | "calls" | "close" | "drop"> & {
  readonly ports: DocumentPorts;
  readonly storeClock: Clock;
  readonly waitMs: () => number;
};

/** Resolves at once, whether or not there is a server. Every call rejects as `unavailable` until the server has answered. */
export async function openDocuments(options: DocumentsOptions): Promise<Documents> {
  const { committed } = options;
  const { connection, aside, isUp, problem, building, calls, close, drop } = openLink(
    options,
    allIndexes,
  );
  const inserts = createOldest(options.clock);
  const opened = openPorts(
    committed ? { ...connection, committed } : connection,
    aside,
    inserts.during,
  );
  return {
    ports: opened.ports,
    storeClock: connection.clock,
    waitMs: inserts.waitMs,
    isUp,
    problem,
    building,
    calls,
    close: async () => {
      await opened.close();
      await close();
    },
    drop,
  };
}
