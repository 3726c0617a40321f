/** Looks up the dead letter that a failure callback names, at once: it must be there. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Letter, now } from "../history/journal.ts";
import { type Target } from "./publish.ts";

const pauseMs = 200;
const answerMsMax = 10_000;

/** Asks again while a fault keeps the gateway from answering. Returns undefined when `isOver` comes first. */
export async function lookUp(
  { port, token }: Target,
  dlqId: string,
  isOver: () => boolean,
): Promise<Letter | undefined> {
  while (!isOver()) {
    const status = await statusOf(`http://127.0.0.1:${port}/v2/dlq/${dlqId}`, token);
    if (status > 0 && status < 500) return { at: now(), dlqId, status };
    await sleep(pauseMs);
  }
  return undefined;
}

async function statusOf(url: string, token: string): Promise<number> {
  try {
    const answer = await fetch(url, {
      headers: { authorization: `Bearer ${token}`, connection: "close" },
      signal: AbortSignal.timeout(answerMsMax),
    });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return 0;
  }
}
