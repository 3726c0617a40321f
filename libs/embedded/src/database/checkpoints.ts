/**
 * Bringing the write-ahead log into the database: behind the answers of a commit, never before them, on a thread of its
 * own, since it writes and syncs megabytes; and by our own statement, since SQLite keeps silent when the sync of a
 * checkpoint of its own fails.
 *
 * SQLite begins its log anew only when all of it has been brought in, which never happens while commits go on beside a
 * checkpoint. So when the log has become long, the writer is held for one more checkpoint, a short one.
 */
import { type DatabaseSync } from "node:sqlite";
import { Worker } from "node:worker_threads";
import { type Log } from "@posthaste/ports";
import { sqliteCode } from "./failures.ts";
import { integer } from "./rows.ts";

/** Frames of 8 KiB that wait before a checkpoint is begun. */
const framesMax = 4_000;
/** Commits from one look at the log to the next; a look costs as much as writing a message. */
const commitsPerLook = 8;
/** The log's length at which the writer is held. */
const logFramesMax = 12_000;

/** `failure`: what makes SQLite's error, which does not travel between threads as it is. */
export type CheckpointAnswer = {
  readonly failure?: { readonly errcode: number; readonly message: string };
};

/** `bring in`: as far as it is possible beside a writer. `empty`: all of it, and the file is cut to nothing. */
export type CheckpointRequest = "bring in" | "empty";

export type Checkpoints = {
  /** Takes what a checkpoint needs: later there may be no thread and no file to be had. Otherwise the first one does. */
  readonly start: () => Promise<void>;
  /** To be called after each commit. What it answers must end before the next; it rejects when the disk has failed. */
  readonly afterCommit: () => Promise<void> | undefined;
  /** Brings all of the log in and gives its room back to the disk. Nothing may be written meanwhile. */
  readonly empty: () => Promise<void>;
  close(): Promise<void>;
};

export function openCheckpoints(db: DatabaseSync, path: string, log: Log): Checkpoints {
  const look = db.prepare("PRAGMA wal_checkpoint(NOOP)");
  const thread = openThread(path);
  let running: Promise<void> | undefined;
  let broken: Error | undefined;
  // On a full disk the log cannot be brought in and grows where it can: we try again when it has grown by as much.
  let failedAt = 0;
  let unseen = 0;

  const run = async (waiting: number, how: CheckpointRequest): Promise<void> => {
    const { failure } = await thread.run(how);
    failedAt = 0;
    if (!failure) return;
    const error = Object.assign(new Error(failure.message), { errcode: failure.errcode });
    if (sqliteCode(error) !== "full") throw error;
    failedAt = waiting;
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

  return {
    afterCommit: () => {
      throwIfBroken();
      if (++unseen < commitsPerLook) return undefined;
      unseen = 0;
      const state = look.get();
      const length = integer(state?.["log"]);
      const waiting = length - integer(state?.["checkpointed"]);
      if (waiting < failedAt) failedAt = 0;
      const isLong = length >= logFramesMax && failedAt === 0;
      if (!isLong && waiting - failedAt < framesMax) return undefined;
      const begun = begin(waiting);
      if (!isLong) return undefined;
      return begun.then(() => begin(waiting)).then(throwIfBroken);
    },
    start: async () => {
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
