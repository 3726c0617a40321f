/**
 * The write-ahead log: each commit is synced in it, and checkpoints move it into the database.
 *
 * Syncs each commit on a thread of Node's pool. SQLite would sync inside COMMIT and hold the event loop for as long as the disk takes. So
 * the connection runs with `synchronous=NORMAL`, where a commit writes the write-ahead log and a checkpoint syncs it; the log is synced
 * here after each commit, before any caller is answered. When a commit is answered, the disk holds the same bytes as with `FULL` (ADR 5).
 *
 * Checkpoints move the write-ahead log into the database. They run after the answers of a commit, never before
 * them, and on a thread of their own, since they write and sync megabytes. SQLite's automatic checkpoints are not
 * used, since a failed sync of one is not reported.
 * SQLite restarts its log only when all of it has been moved, which never happens while commits continue beside a
 * checkpoint. So when the log has become long, the writer is held for one more checkpoint, a short one.
 * No frame newer than a reader's snapshot can be moved: a backup, or another program that reads the file, makes the
 * log grow for as long as it reads. Work continues until the disk is full, and the reading processes are logged.
 */
import { closeSync, fdatasync, fdatasyncSync, fsyncSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { type DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { type Log } from "@posthaste/ports";
import { sqliteCode } from "./failures.ts";
import { logReaders } from "./log-readers.ts";
import { integer } from "./rows.ts";

export type Sync = {
  /** Resolves when every commit made before the call is on the disk; rejects when this is unknown. */
  run(): Promise<void>;
  /** Syncs before it returns, or throws. */
  runNow(): void;
  close(): void;
};

const syncData = promisify(fdatasync);

/** `path` is the path of the database, whose log must exist. */
export function openWalSync(path: string): Sync {
  const file = openLog(path);
  return {
    run: () => syncData(file),
    runNow: () => fdatasyncSync(file),
    close: () => closeSync(file),
  };
}

/** Syncs the directory too: the log's name in it must outlive a power cut. */
function openLog(path: string): number {
  const directory = openSync(dirname(path), "r");
  fsyncSync(directory);
  closeSync(directory);
  return openSync(`${path}-wal`, "r+");
}

/** Commits between two looks at the log. A look costs as much as writing a message. */
const commitsPerLook = 8;

/** Bounds of the log, in frames of 8 KiB. */
type Bounds = {
  /** The number of waiting frames at which a checkpoint begins. */
  readonly waitingMax: number;
  /**
   * The log's length at which the writer is held, unless a reader has kept back as many frames: those are moved beside the writer first.
   */
  readonly lengthMax: number;
  /** The log's length at which its readers are logged, and again each time it has doubled. */
  readonly reportedMin: number;
};

const bounds: Bounds = { waitingMax: 4_000, lengthMax: 12_000, reportedMin: 36_000 };

export type CheckpointAnswer = {
  /** Frames not moved because they are newer than a reader's snapshot. */
  readonly left?: number;
  /** The parts of SQLite's error, which cannot travel between threads as it is. */
  readonly failure?: { readonly errcode: number; readonly message: string };
};

/** `bring in` moves what can be moved beside a writer. `empty` moves all of the log and truncates the file. */
export type CheckpointRequest = "bring in" | "empty";

export type Checkpoints = {
  /** Must be called after each commit. A returned promise must end before the next commit; it rejects when the disk has failed. */
  readonly afterCommit: () => Promise<void> | undefined;
  /** Moves what can be moved beside the writer. The first call starts the thread and opens its file, which may not be possible later. */
  readonly bringIn: () => Promise<void>;
  /** Moves all of the log and gives its space back to the disk. Nothing may be written meanwhile. */
  readonly empty: () => Promise<void>;
  close(): Promise<void>;
};

export function openCheckpoints(
  db: DatabaseSync,
  path: string,
  log: Log,
  changed: Partial<Bounds> = {},
): Checkpoints {
  const { lengthMax, reportedMin, waitingMax } = { ...bounds, ...changed };
  const look = db.prepare("PRAGMA wal_checkpoint(NOOP)");
  const thread = openThread(path);
  let running: Promise<void> | undefined;
  let broken: Error | undefined;
  // Frames kept back by a full disk or a reader. The next checkpoint is tried when `waitingMax` frames have been added.
  let keptBack = 0;
  let reportAt = reportedMin;
  let unseen = 0;

  const run = async (waiting: number, how: CheckpointRequest): Promise<void> => {
    const { failure, left = 0 } = await thread.run(how);
    keptBack = left;
    if (!failure) return;
    const error = Object.assign(new Error(failure.message), { errcode: failure.errcode });
    if (sqliteCode(error) !== "full") throw error;
    keptBack = waiting;
    log.warn("store.checkpoint_failed", { count: waiting, error });
  };

  const begin = (waiting: number, how: CheckpointRequest = "bring in"): Promise<void> =>
    (running ??= run(waiting, how)
      .catch((error: unknown) => {
        broken = Error.isError(error) ? error : new Error(String(error));
      })
      .finally(() => (running = undefined)));

  const throwIfBroken = (): void => {
    if (broken) throw broken;
  };

  const report = (length: number): void => {
    if (length < lengthMax && reportAt > reportedMin) {
      reportAt = reportedMin;
      log.info("store.log_released", {});
    }
    if (length < reportAt || keptBack < lengthMax) return;
    reportAt = 2 * length;
    void logReaders(path).then((pids) =>
      log.warn("store.log_held", { bytes: length * frameBytes, pids }),
    );
  };

  return {
    afterCommit: () => {
      if (broken) throw broken;
      if (++unseen < commitsPerLook) return undefined;
      unseen = 0;
      const state = look.get();
      const length = integer(state?.["log"]);
      const waiting = length - integer(state?.["checkpointed"]);
      if (waiting < keptBack) keptBack = 0;
      report(length);
      const isMuch = waiting - keptBack >= waitingMax;
      const isLong = length >= lengthMax && (isMuch || keptBack === 0);
      if (!isLong && !isMuch) return undefined;
      const begun = begin(waiting);
      if (!isLong || keptBack >= lengthMax) return undefined;
      return begun.then(() => begin(waiting)).then(throwIfBroken);
    },
    bringIn: async () => {
      await begin(0);
      throwIfBroken();
    },
    empty: async () => {
      await running;
      await begin(0, "empty");
      throwIfBroken();
    },
    close: async () => {
      await running;
      await thread.close();
    },
  };
}

const frameBytes = 8_192;

type Thread = {
  run(request: CheckpointRequest): Promise<CheckpointAnswer>;
  close(): Promise<void>;
};

/** Starts the thread at its first request. The thread keeps the process alive only during a request. */
function openThread(path: string): Thread {
  let worker: Worker | undefined;
  const ask = (
    event: "message" | "exit",
    request: CheckpointRequest | "close",
  ): Promise<CheckpointAnswer> =>
    new Promise((resolve, reject) => {
      worker ??= new Worker(new URL("./checkpoint-worker.ts", import.meta.url), {
        workerData: path,
      });
      const asked = worker;
      asked.ref();
      const answered = (answer: CheckpointAnswer): void => {
        asked.off("error", reject).unref();
        resolve(answer);
      };
      asked.once(event, answered).once("error", reject);
      asked.postMessage(request);
    });
  return {
    run: (request) => ask("message", request),
    close: async () => {
      if (worker) await ask("exit", "close");
    },
  };
}
