/** The callers' thread. Reports the number of answers when told to stop. */
import { parentPort, workerData } from "node:worker_threads";
import { lists } from "../scenarios/list-ways.ts";
import { ask, type Way, ways } from "../scenarios/ways.ts";
import { type AskedWay, type Asking } from "./callers.ts";

const { port, way } = workerData as Asking;
const { callers = 0, request } = found(way) ?? {};
let answered = 0;
let next = 0;

async function call(): Promise<void> {
  for (;;) {
    if (!request) return;
    await ask(port, request(next++))
      .then((answer) => answer.arrayBuffer())
      .catch(() => undefined);
    answered++;
  }
}

function found({ of, nth }: AskedWay): Pick<Way, "callers" | "request"> | undefined {
  if (of === "neighbours") return ways[nth];
  const list = lists[nth];
  return list && { callers: 1, request: () => list };
}

parentPort?.once("message", () => parentPort?.postMessage(answered));
for (let caller = 0; caller < callers; caller++) void call();
