/** The checkpoint's own thread: a connection of its own, one statement on demand. */
import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { type CheckpointAnswer } from "./checkpoints.ts";

const busyMsMax = 1_000;

const db = new DatabaseSync(String(workerData), { timeout: busyMsMax });
const checkpoint = db.prepare("PRAGMA wal_checkpoint(PASSIVE)");

function run(): CheckpointAnswer {
  try {
    checkpoint.get();
    return {};
  } catch (error) {
    if (!Error.isError(error) || !("errcode" in error)) throw error;
    return { failure: { errcode: Number(error.errcode), message: error.message } };
  }
}

parentPort?.on("message", (request: "run" | "close") => {
  if (request === "run") {
    parentPort?.postMessage(run());
    return;
  }
  db.close();
  parentPort?.close();
});
