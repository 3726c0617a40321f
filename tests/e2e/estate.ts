/**
 * One of everything that a tenant may have, under names that every tenant uses, and the endpoints of the tables with
 * these names filled in.
 */
import { type EndpointKind, endpoints } from "@posthaste/contract";
import { type Client, eventually, hasLength } from "./client.ts";
import { always, type Destination } from "./destination.ts";
import { service } from "./dialects.ts";
import { objectOf, textOf } from "./json.ts";

export type Estate = {
  readonly client: Client;
  readonly destination: Destination;
  readonly messageId: string;
  readonly dlqId: string;
  readonly runId: string;
  readonly failedRun: { readonly runId: string; readonly dlqId: string };
  readonly actionId: string;
};

/** The headers by which a workflow endpoint marks each answer. */
const mark = { "Upstash-Workflow-Sdk-Version": "1", "Upstash-Workflow-Sdk": "v1.3.3" };

/** `name` is the tenant's, and unique at the destination. */
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
    const [letter] = await client.until(path, "messages", hasLength(1));
    return textOf(letter?.["dlqId"]);
  };
  const dlqId = await letterIn("/v2/dlq");
  const failedRun = {
    runId: failing["Upstash-Workflow-RunId"],
    dlqId: await letterIn("/v2/workflows/dlq"),
  };
  const estate = { client, destination, messageId, dlqId, runId, failedRun, actionId };
  // The log lags behind, and the counts lag further.
  await eventually(
    async () => ({
      isCounted: await isCounted(client),
      reads: [await everythingOf(estate), await everythingOf(estate)].map(String),
    }),
    ({ isCounted, reads: [one, other] }) => isCounted && one === other,
  );
  return estate;
}

/** Reports whether the counts include every event of the log, of which the failure comes last. */
async function isCounted(client: Client): Promise<boolean> {
  const minutes = await client.listed("/v2/counts", "minutes");
  const events = await client.listed("/v2/events", "events");
  const counts = minutes.flatMap((minute) => Object.entries(objectOf(minute["counts"])));
  const total = counts.reduce((sum, [, count]) => sum + Number(count), 0);
  return total === events.length && counts.some(([state]) => state === "FAILED");
}

/**
 * Returns the answers of all the tenant's reads except the audit log, which has refused changes. Equal answers before
 * and after mean that nothing changed.
 */
export async function everythingOf(estate: Estate): Promise<readonly string[]> {
  const paths = routes(estate, "read", "list", "secret")
    .map(({ path }) => path)
    .filter((path) => path !== "/v2/audit");
  const texts: string[] = [];
  for (const path of paths) {
    const { text } = await estate.client.get(path);
    texts.push(`${path} ${timeless(path, text)}`);
  }
  return texts;
}

/** Blanks the overview's time, which changes by itself. */
export function timeless(path: string, text: string): string {
  return path === "/v2/overview" ? text.replace(/"time":\d+/, '"time":0') : text;
}

export type RouteOf = {
  readonly method: string;
  readonly path: string;
  readonly template: string;
  readonly kind: EndpointKind;
  /** The path begins with a destination, and its query belongs to that. */
  readonly isRaw: boolean;
};

/** Returns the gateway's endpoints of these kinds, from their rows, filled in from the estate. */
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

/** Fills in a path's parameters. A row with a new parameter needs a line here. */
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
