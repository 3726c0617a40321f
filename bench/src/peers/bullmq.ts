/** The BullMQ peer: a job per message, answered when Redis has it, worked in the same process. `node bullmq.ts <port> <redis port>` */
import { Queue, Worker } from "bullmq";
import { type Publish, serve } from "./accept.ts";
import { type Delivery, deliver } from "./deliver.ts";

/** As many calls at a time as the relay's pool has connections. */
const concurrency = 64;
const attempts = 4;

type Job = { readonly url: string; readonly headers: Delivery["headers"]; readonly body: string };

const connection = { host: "127.0.0.1", port: Number(process.argv[3]), maxRetriesPerRequest: null };
const queue = new Queue<Job, void, "deliver">("bench", {
  connection,
  defaultJobOptions: { attempts, removeOnComplete: true, removeOnFail: false },
});
const worker = new Worker<Job, void, "deliver">(
  "bench",
  ({ data }) =>
    new Promise((resolve, reject) => {
      deliver(data, (outcome) => {
        if (outcome === 200) resolve();
        else reject(new Error("the delivery failed", { cause: outcome }));
      });
    }),
  { connection, concurrency },
);
worker.on("error", (error) => console.error("bullmq:", error.message));
await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()]);

serve(Number(process.argv[2]), ({ delivery }: Publish, answer) => {
  const { url, headers, body } = delivery;
  queue.add("deliver", { url, headers, body: body.toString() }).then(answer, (error: unknown) => {
    console.error("bullmq: cannot add a job", error);
  });
});
