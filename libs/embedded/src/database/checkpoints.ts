/**
 * Bringing the write-ahead log into the database: behind the answers of a commit, never before them, on a thread of its
 * own, since it writes and syncs megabytes; and by our own statement, since SQLite keeps silent when the sync of a
 * checkpoint of its own fails.
 *
 * SQLite begins its log anew only when all of it has been brought in, which never happens while commits go on beside a
 * checkpoint. So when the log has become long, the writer is held for one more checkpoint, a short one.
 *
 * Nothing behind the snapshot of a reader can be brought in: a backup, or another program that looks into the file, makes
 * the log grow for as long as it reads. Work goes on, the disk's room is the bound, and which processes read is logged.
 */
import { type DatabaseSync } from "node:sqlite";
import { Worker } from "node:worker_threads";
import { type Log } from "@posthaste/ports";
import { sqliteCode } from "./failures.ts";
import { logReaders } from "./log-readers.ts";
import { integer } from "./rows.ts";

/** Commits from one look at the log to the next; a look costs as much as writing a message. */
const commitsPerLook = 8;

/** In frames of 8 KiB. */
type Bounds = {
  /** So many wait before a checkpoint is begun. */
  readonly waitingMax: number;
  /** The log's length at which the writer is held, unless a reader kept back as many: those are brought in beside it first. */
  readonly lengthMax: number;
  /** The length at which it is logged that readers hold it; from then on whenever it is twice as long. */
  readonly reportedMin: number;
};

const bounds: Bounds = { waitingMax: 4_000, lengthMax: 12_000, reportedMin: 36_000 };

export type CheckpointAnswer = {
  /** Frames that were left, since a reader's snapshot is older than they are. */
  readonly left?: number;
  /** What makes SQLite's error, which does not travel between threads as it is. */
  readonly failure?: { readonly errcode: number; readonly message: string };
};

/** `bring in`: as far as it is possible beside a writer. `empty`: all of it, and the file is cut to nothing. */
export type CheckpointRequest = "bring in" | "empty";

export type Checkpoints = {
  /** To be called after each commit. What it answers must end before the next; it rejects when the disk has failed. */
  readonly afterCommit: () => Promise<void> | undefined;
  /** Brings in what can be, beside the writer. The first takes what each needs: later there may be no thread and no file to be had. */
  readonly bringIn: () => Promise<void>;
  /** Brings all of the log in and gives its room back to the disk. Nothing may be written meanwhile. */
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
  // What a full disk or a reader has kept from being brought in, in frames: we try again when as many as ever have come since.
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
      throwIfBroken();
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

/** Started when it is first asked for something. It keeps the process alive only while it is asked. */
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
