/** A cancel by a label, which gateways and schedulers carry out step by step. */
import { setTimeout as sleep } from "node:timers/promises";
import { developmentToken } from "../../e2e/server-process.ts";
import { type Stage } from "../stage.ts";
import { until } from "../world/until.ts";

/** Six steps, some of which the kills leave undone; as many items as one batch has bytes for. */
const count = 3_000;
/** Messages that a step may have cancelled without having counted them. */
const stepMax = 500;

/** Begins a bulk action. The returned function resolves when the action has ended; `kills` is the number of its workers that were killed. */
export async function beginBulkAction(stage: Stage): Promise<(kills: number) => Promise<void>> {
  const label = `bulk-${stage.load.next}`;
  await publishHeld(stage, label);
  const { actionId } = await ask(stage, "DELETE", `/v2/messages?label=${label}&async=true`);
  const read = (): Promise<Answer> => ask(stage, "GET", `/v2/bulkActions/${actionId}`);
  await until("the bulk action has begun", async () => (await read()).processed > 0);

  return async (kills) => {
    await until("the bulk action has ended", async () => (await read()).state === "FINISHED");
    const { processed } = await read();
    if (processed > count || processed < count - kills * stepMax)
      throw new Error(`a bulk action of ${count} messages says that it cancelled ${processed}`);
    const left = await ask(stage, "DELETE", `/v2/messages?label=${label}&dryRun=true`);
    if (left.matched !== 0) throw new Error(`a bulk action has left ${left.matched} messages`);
  };
}

type Answer = {
  readonly actionId: string;
  readonly processed: number;
  readonly state: string;
  readonly matched: number;
};

/** Publishes messages that are not due before the scenario is over. */
async function publishHeld(stage: Stage, label: string): Promise<void> {
  const headers = { "Service-Delay": "1h", "Service-Label": label };
  const item = { destination: `${stage.destination.url}/arrival`, headers };
  await ask(stage, "POST", "/v2/batch", JSON.stringify(Array.from({ length: count }, () => item)));
}

const triesMax = 150;
const againMs = 1_000;

/** Sends a request to the gateway. On a busy host a gateway may answer 503: reads are then repeated. */
async function ask(stage: Stage, method: string, path: string, body?: string): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    const [gateway] = stage.cluster.services.of("gateway");
    const answer = await fetch(`${gateway?.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${developmentToken}`, connection: "close" },
      ...(body !== undefined && { body }),
    });
    const text = await answer.text();
    if (answer.ok) return JSON.parse(text) as Answer;
    if (answer.status !== 503 || method !== "GET" || tries === triesMax)
      throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    await sleep(againMs);
  }
}
