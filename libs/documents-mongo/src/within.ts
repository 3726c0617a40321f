/** A bound of ours on what the driver does: it has been seen never to end. */
import { type Clock } from "@posthaste/ports";

/** What takes longer may still be done: its failure is one of those after which a call is made again. */
export function within<T>(clock: Clock, ms: number, task: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => reject(silence(ms)));
    void task.then(resolve, reject).finally(cancel);
  });
}

/** Named as the driver names it when it notices by itself. */
const silence = (ms: number): Error =>
  Object.assign(new Error(`nothing was heard for ${ms} ms`), { name: "MongoNetworkTimeoutError" });
