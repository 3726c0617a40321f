/** Asks again as soon as it is answered. A thread of its own keeps its reading from delaying the measurement. */
import { isMainThread, Worker, workerData } from "node:worker_threads";
import { type System } from "../systems/system.ts";
import { token } from "./template.ts";

type Asking = { readonly port: number; readonly path: string };

/** Asks for a path until the returned thread is terminated. */
export const startCaller = ({ port }: System, path: string): Worker =>
  new Worker(new URL(import.meta.url), { workerData: { port, path } satisfies Asking });

export const ask = (port: number, path: string): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}${path}`, { headers: { Authorization: `Bearer ${token}` } });

if (!isMainThread) {
  const { port, path } = workerData as Asking;
  for (;;)
    await ask(port, path)
      .then((answer) => answer.arrayBuffer())
      .catch(() => undefined);
}
