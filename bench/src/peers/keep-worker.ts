/** The other thread of `least-in-threads.ts`. Keeps the messages that it receives, and reports how many more are on disk. */
import { parentPort } from "node:worker_threads";
import { keepIn } from "./keep.ts";
import { type Parcel, unpack } from "./parcel.ts";

const keep = keepIn(process.argv[2] ?? ".");
let safe = 0;

parentPort?.on("message", (parcel: Parcel) => {
  for (const publish of unpack(parcel)) keep(publish, answer);
});

function answer(): void {
  if (++safe === 1) setImmediate(tell);
}

function tell(): void {
  parentPort?.postMessage(safe);
  safe = 0;
}
