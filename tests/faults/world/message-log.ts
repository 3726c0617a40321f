/** Reads the message log as a caller does. */
import { type Target } from "./publish.ts";

const answerMsMax = 30_000;
const pagesMax = 1_000;

/** Returns the ids of all messages that have ended, or undefined when the gateway does not answer now. */
export async function endedIn(target: Target): Promise<ReadonlySet<string> | undefined> {
  const ids = new Set<string>();
  for (const state of ["DELIVERED", "FAILED"]) {
    let cursor: string | undefined;
    for (let page = 0; page < pagesMax; page++) {
      const query = new URLSearchParams({ state, count: "1000", ...(cursor && { cursor }) });
      const answer = await readPage(target, query);
      if (!answer) return undefined;
      for (const { messageId } of answer.events) ids.add(messageId);
      ({ cursor } = answer);
      if (cursor === undefined) break;
    }
  }
  return ids;
}

type Page = {
  readonly events: readonly { readonly messageId: string }[];
  readonly cursor?: string;
};

async function readPage(
  { port, token }: Target,
  query: URLSearchParams,
): Promise<Page | undefined> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/v2/events?${query.toString()}`, {
      headers: { authorization: `Bearer ${token}`, connection: "close" },
      signal: AbortSignal.timeout(answerMsMax),
    });
    return answer.status === 200 ? ((await answer.json()) as Page) : undefined;
  } catch {
    return undefined;
  }
}
