/** The disk under the store: whether it has space for new work, and how space is freed and given back. */
import { type DatabaseSync } from "node:sqlite";
import { type Clock, type Log, type Records } from "@posthaste/ports";
import { openCheckpoints } from "../database/write-ahead-log.ts";
import { integer } from "../database/rows.ts";
import { openVacuum } from "../database/vacuum.ts";
import { type Writer } from "../database/writer.ts";
import { openFreeSpace, readSpace, type Space, spaceNow } from "./free-space.ts";
import { openReclaim, type Reclaim } from "./reclaim.ts";
import { openReserve } from "./reserve.ts";

export type DiskOptions = {
  readonly dataDir: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly reserveBytes?: number;
  readonly space?: (promisedBytes: number) => Space;
};

export type Disk = {
  readonly start: () => Promise<void>;
  /** Throws `disk_full` when there is no space for new work. */
  readonly checkRoom: () => void;
  /** Frees space for work that must continue. Returns false if there was nothing to free. */
  readonly makeRoom: () => boolean;
  readonly afterCommit: () => Promise<void> | undefined;
  /** Starts reclaiming space, and returns the same records with removals that wake the reclaim. */
  readonly reclaiming: (
    writer: Writer,
    records: Records,
    giveWay: (isClosed: () => boolean) => Promise<void>,
  ) => Records;
  /** Returns which share of the disk is in use. Pages of the file that hold nothing count as free. */
  readonly share: () => Promise<number>;
  /** Stops reclaiming: nothing more is written. */
  readonly rest: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** The disk of a store in memory: there is always space, and no log. */
export const noDisk: Disk = {
  start: async () => undefined,
  checkRoom: () => undefined,
  makeRoom: () => false,
  afterCommit: () => undefined,
  reclaiming: (_, records) => records,
  share: async () => 0,
  rest: async () => undefined,
  close: async () => undefined,
};

const reserveBytesDefault = 64 * 1024 * 1024;

/** `path` is the path of the database. */
export function openDisk(options: DiskOptions, db: DatabaseSync, path: string): Disk {
  const { dataDir, clock, log, reserveBytes = reserveBytesDefault, space: given } = options;
  const checkpoints = openCheckpoints(db, path, log);
  const reserve = openReserve(dataDir, reserveBytes);
  let building = reserve.build();
  let reclaim: Reclaim | undefined;
  const read = async (): Promise<Space> =>
    given?.(reserve.missingBytes()) ?? readSpace(dataDir, reserve.missingBytes());
  const unused = db.prepare("PRAGMA freelist_count");
  const page = db.prepare("PRAGMA page_size");
  const space = openFreeSpace({
    clock,
    first: given?.(reserve.missingBytes()) ?? spaceNow(dataDir, reserve.missingBytes()),
    read,
    onChange: (nearlyFull) => {
      log.warn(nearlyFull ? "store.disk_nearly_full" : "store.disk_has_room", {});
      if (nearlyFull) reclaim?.wake();
      else building = reserve.build();
    },
  });

  return {
    start: checkpoints.bringIn,
    checkRoom: space.check,
    makeRoom: () => {
      const made = reserve.giveUp();
      if (made) log.error("store.reserve_given_up", { dataDir });
      void space.look();
      return made;
    },
    afterCommit: checkpoints.afterCommit,
    reclaiming: (writer, records, giveWay) => {
      const vacuum = openVacuum(db, writer);
      const { wake } = (reclaim = openReclaim({
        clock,
        log,
        space,
        vacuum,
        writer,
        checkpoints,
        records,
        giveWay,
      }));
      wake();
      return {
        ...records,
        removeFinished: async (...asked) => {
          const removed = await records.removeFinished(...asked);
          wake();
          return removed;
        },
      };
    },
    share: async () => {
      const { freeBytes, totalBytes } = await read();
      const unusedBytes =
        integer(unused.get()?.["freelist_count"]) * integer(page.get()?.["page_size"]);
      return 1 - (freeBytes + unusedBytes) / totalBytes;
    },
    rest: async () => reclaim?.close(),
    close: async () => {
      await checkpoints.close();
      await building;
    },
  };
}
