/** Makes the queues of a run before any message joins them. */
import { queues } from "../history/kinds.ts";
import { type Target } from "./publish.ts";

export async function makeQueues({ port, token }: Target): Promise<void> {
  for (const [queueName, parallelism] of Object.entries(queues)) {
    const answer = await fetch(`http://127.0.0.1:${port}/v2/queues`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, connection: "close" },
      body: JSON.stringify({ queueName, parallelism }),
    });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`${queueName}: ${answer.status} ${text}`);
  }
}
