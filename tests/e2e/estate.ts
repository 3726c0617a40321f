/** One of everything that a tenant may have, under names that every tenant uses, and the endpoints of the tables with these filled in. */
import { type EndpointKind, endpoints } from "@posthaste/contract";
import { type Client, eventually } from "./client.ts";
import { always, type Destination } from "./destination.ts";
import { service } from "./dialects.ts";
import { objectOf, textOf } from "./json.ts";

export type Estate = {
  readonly client: Client;
  readonly destination: Destination;
  /** Waits for its delay. */
  readonly messageId: string;
  readonly dlqId: string;
  /** An event of it is waited for. */
  readonly runId: string;
  readonly failedRun: { readonly runId: string; readonly dlqId: string };
  readonly actionId: string;
};

/** What an endpoint of a workflow says in each answer. */
const mark = { "Upstash-Workflow-Sdk-Version": "1", "Upstash-Workflow-Sdk": "v1.3.3" };

/** `name`: of the tenant; no other estate of the destination has it. */
export async function settle(
  client: Client,
  destination: Destination,
  name: string,
): Promise<Estate> {
  const ok = async (call: ReturnType<Client["post"]>) => {
    const reply = await call;
    if (reply.status > 202) throw new Error(`${reply.status} ${reply.text}`);
    return reply;
  };
  destination.answers("/fails", always(500));
  destination.answers("/run", (_, response) => response.writeHead(200, mark).end());
  destination.answers("/failing-run", (_, response) => response.writeHead(500, mark).end());
  const held = { Delay: "1h", Label: "label", "Flow-Control-Key": "key" };
  const flow = { "Flow-Control-Value": "parallelism=1" };
  const url = destination.url(`/held/${name}`);
  const messageId = await client.published(url, service({ ...held, ...flow }));
  await client.published(destination.url("/fails"), service({ Retries: "0" }));
  const group = JSON.stringify({ endpoints: [{ url: destination.url(`/group/${name}`) }] });
  await ok(client.post("/v2/topics/group/endpoints", {}, group));
  const queue = JSON.stringify({ queueName: "queue", parallelism: 3, paused: true });
  await ok(client.post("/v2/queues", {}, queue));
  await ok(client.post(`/v2/enqueue/queue/${destination.url(`/queued/${name}`)}`));
  const yearly = { Cron: "0 0 1 1 *", "Schedule-Id": "schedule" };
  await ok(client.post(`/v2/schedules/${destination.url("/yearly")}`, service(yearly)));
  const runId = `run-of-${name}`;
  const run = { "Upstash-Workflow-RunId": runId };
  const endpoint = destination.url("/run");
  await ok(client.post(`/v2/trigger/${endpoint}`, run));
  const wait = JSON.stringify({ url: endpoint, timeout: "1h", step: { stepId: 1 } });
  await ok(client.post("/v2/wait/event", { ...run, "Upstash-Workflow-Init": "false" }, wait));
  const failing = { "Upstash-Workflow-RunId": `failed-run-of-${name}`, "Upstash-Retries": "0" };
  await ok(client.post(`/v2/trigger/${destination.url("/failing-run")}`, failing));
  const none = await ok(client.delete("/v2/messages?label=none&async=true"));
  const actionId = textOf(none.object()["actionId"]);
  const letterIn = async (path: string): Promise<string> => {
    const [letter] = await eventually(
      async () => (await client.get(path)).list("messages"),
      ({ length }) => length === 1,
    );
    return textOf(letter?.["dlqId"]);
  };
  const dlqId = await letterIn("/v2/dlq");
  const failedRun = {
    runId: failing["Upstash-Workflow-RunId"],
    dlqId: await letterIn("/v2/workflows/dlq"),
  };
  const estate = { client, destination, messageId, dlqId, runId, failedRun, actionId };
  // The log hears of what has happened a little later, and the counts are kept later still.
  await eventually(
    async () => ({
      isCounted: await isCounted(client),
      reads: [await everythingOf(estate), await everythingOf(estate)].map(String),
    }),
    ({ isCounted, reads: [one, other] }) => isCounted && one === other,
  );
  return estate;
}

/** All that is in the log, of which the failure comes last. */
async function isCounted(client: Client): Promise<boolean> {
  const minutes = (await client.get("/v2/counts")).list("minutes");
  const events = (await client.get("/v2/events")).list("events");
  const counts = minutes.flatMap((minute) => Object.entries(objectOf(minute["counts"])));
  const total = counts.reduce((sum, [, count]) => sum + Number(count), 0);
  return total === events.length && counts.some(([state]) => state === "FAILED");
}

/** What each read of the tenant says: the same before and after means that nothing was changed. */
export async function everythingOf(estate: Estate): Promise<readonly string[]> {
  const paths = routes(estate, "read", "list", "secret").map(({ path }) => path);
  const texts: string[] = [];
  for (const path of paths) {
    const { text } = await estate.client.get(path);
    texts.push(`${path} ${timeless(path, text)}`);
  }
  return texts;
}

/** The overview says what the time is, which goes on though nothing is changed. */
export function timeless(path: string, text: string): string {
  return path === "/v2/overview" ? text.replace(/"time":\d+/, '"time":0') : text;
}

export type RouteOf = {
  readonly method: string;
  /** Filled in. */
  readonly path: string;
  /** As it is in the document. */
  readonly template: string;
  readonly kind: EndpointKind;
  /** It begins with a destination, and its query is the destination's. */
  readonly isRaw: boolean;
};

/** All endpoints of the gateway of one of these kinds, from their rows, of what is in the estate. */
export function routes(estate: Estate, ...kinds: readonly EndpointKind[]): readonly RouteOf[] {
  const rows = endpoints.filter(({ api, kind }) => api === undefined && kinds.includes(kind));
  return rows.map(({ method, path, kind, isRaw = false }) => ({
    method: method.toUpperCase(),
    path: filled(path, estate),
    template: path,
    kind,
    isRaw,
  }));
}

/** What a path's parameters stand for; a row with another one wants a line here. */
const filled = (path: string, estate: Estate): string => {
  const isOfRuns = path.startsWith("/v2/workflows");
  return path
    .replace("{destination}", estate.destination.url("/refused"))
    .replace("{messageId}", estate.messageId)
    .replace("{urlGroupName}", "group")
    .replace("{flowControlKey}", "key")
    .replace("{actionId}", estate.actionId)
    .replace("{queueName}", "queue")
    .replace("{scheduleId}", "schedule")
    .replace("{runId}", estate.runId)
    .replace("{eventId}", "event")
    .replace("{dlqId}", isOfRuns ? estate.failedRun.dlqId : estate.dlqId);
};
