/**
 * The least in two threads: this one accepts and answers, the other stores, signs and calls. The publishes of one turn go
 * over together. `node least-in-threads.ts <port> <data folder>`
 */
import { Worker } from "node:worker_threads";
import { type Publish, serve } from "./accept.ts";
import { pack } from "./parcel.ts";

const [port, folder = "."] = process.argv.slice(2);
const worker = new Worker(new URL("keep-worker.ts", import.meta.url), { argv: [folder] });

/** The answers that are still to come, in the order of sending, which is also the order in which the other thread reports. */
const unanswered: (() => void)[] = [];
let publishes: Publish[] = [];

serve(Number(port), (publish, answer) => {
  unanswered.push(answer);
  if (publishes.push(publish) === 1) setImmediate(send);
});
worker.on("message", (count: number) => {
  for (const answer of unanswered.splice(0, count)) answer();
});

function send(): void {
  const parcel = pack(publishes);
  publishes = [];
  worker.postMessage(parcel, [parcel.bodies.buffer]);
}
