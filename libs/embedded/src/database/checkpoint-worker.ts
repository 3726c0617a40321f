/** The checkpoint thread: runs checkpoints on request, on a connection of its own. */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { type CheckpointAnswer, type CheckpointRequest } from "./write-ahead-log.ts";
import { integer } from "./rows.ts";

/** How long emptying the log waits for readers, during which nothing is written. A short read ends in time, a backup does not. */
const busyMsMax = 100;

const db = new DatabaseSync(String(workerData), { timeout: busyMsMax });
const checkpoint = {
  "bring in": db.prepare("PRAGMA wal_checkpoint(PASSIVE)"),
  empty: db.prepare("PRAGMA wal_checkpoint(TRUNCATE)"),
} as const satisfies Readonly<Record<CheckpointRequest, StatementSync>>;

function run(request: CheckpointRequest): CheckpointAnswer {
  try {
    const answer = checkpoint[request].get();
    return { left: integer(answer?.["log"]) - integer(answer?.["checkpointed"]) };
  } catch (error) {
    if (!Error.isError(error) || !("errcode" in error)) throw error;
    return { failure: { errcode: Number(error.errcode), message: error.message } };
  }
}

parentPort?.on("message", (request: CheckpointRequest | "close") => {
  if (request !== "close") {
    parentPort?.postMessage(run(request));
    return;
  }
  db.close();
  parentPort?.close();
});
