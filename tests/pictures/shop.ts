/** A shop's day, as real SDKs make it: messages, dead letters, lines and runs in each of their states. */
import { Client as Qstash } from "@upstash/qstash";
import { Client as Workflows, serve, type WorkflowContext } from "@upstash/workflow";
import { type ConsolePages } from "../e2e/console-site.ts";
import { eventually } from "../e2e/client.ts";
import { developmentToken } from "../e2e/server-process.ts";
import { type WorkflowEndpoint } from "../e2e/workflow-endpoint.ts";

type Pages = Pick<ConsolePages, "destination" | "origin" | "server">;

export type Shop = {
  readonly failedMessage: string;
  readonly deliveredMessage: string;
  readonly letter: string;
  readonly bulkAction: string;
};

export async function openShop(pages: Pages, endpoint: WorkflowEndpoint): Promise<Shop> {
  const settings = { baseUrl: pages.origin, token: developmentToken };
  const [shop] = await Promise.all([
    messages(pages, new Qstash(settings)),
    lines(pages, new Qstash(settings)),
    runs(settings, endpoint),
  ]);
  return shop;
}

const down = '{"error":"the CRM is down for maintenance","retryAfter":"09:30"}';
const refused = '{"error":"unknown address","field":"to"}';
const quickly = { retries: 2, retryDelay: "10" } as const;

async function messages({ destination, server }: Pages, client: Qstash): Promise<Shop> {
  destination.answers("/webhooks/crm", (_, response) => response.writeHead(503).end(down));
  destination.answers("/mail/send", (_, response) => response.writeHead(422).end(refused));
  const crm = destination.url("/webhooks/crm");
  const cancelled = { url: destination.url("/campaign"), label: "campaign", delay: "1d" } as const;
  for (let nth = 0; nth < 12; nth += 1) await client.publishJSON({ ...cancelled, body: { nth } });
  const begun = await server.client.delete("/v2/messages?label=campaign&async=true");
  const bulkAction = String(begun.object()["actionId"]);
  await eventually(
    () => server.client.get(`/v2/bulkActions/${bulkAction}`),
    (reply) => reply.object()["state"] === "FINISHED",
  );
  const headers = { "X-Shop": "north", "X-Request": "8f14e45f" };
  for (let order = 12; order <= 20; order += 1)
    await client.publishJSON({
      ...{ ...quickly, url: crm, headers, label: `order-${order}` },
      body: { order, total: `${order * 3}.90`, currency: "EUR", items: ["tea", "mug"] },
    });
  const mail = { url: destination.url("/mail/send"), label: "welcome-mail", retries: 0 };
  for (const to of ["ada@example", "grace@example"])
    await client.publishJSON({ ...mail, body: { to } });
  const erp = destination.url("/erp/orders");
  let deliveredMessage = "";
  for (let order = 12; order <= 40; order += 1) {
    const made = await client.publishJSON({
      ...{ url: erp, label: `order-${order}`, body: { order, shop: "north" } },
    });
    deliveredMessage = [made].flat()[0]?.messageId ?? "";
  }
  const later = { url: destination.url("/reports"), label: "report", delay: "2h" } as const;
  for (const day of [1, 2, 3]) await client.publishJSON({ ...later, body: { day } });
  const retried = { url: crm, label: "order-21", retries: 3, retryDelay: "3600000" };
  await client.publishJSON({ ...retried, body: { order: 21 } });
  const letters = await eventually(
    async () =>
      (await server.client.get("/v2/dlq?order=latestFirst&label=order-17")).list("messages"),
    (found) => found.length === 1,
  );
  return {
    failedMessage: String(letters[0]?.["messageId"]),
    letter: String(letters[0]?.["dlqId"]),
    deliveredMessage,
    bulkAction,
  };
}

/** Queues, groups, schedules and flow keys. */
async function lines({ destination, server }: Pages, client: Qstash): Promise<void> {
  const url = destination.url("/ok");
  await client.queue({ queueName: "mails" }).upsert({ parallelism: 1, paused: true });
  for (const mail of [1, 2, 3])
    await client.queue({ queueName: "mails" }).enqueueJSON({ url, body: { mail } });
  await client.queue({ queueName: "invoices" }).upsert({ parallelism: 4 });
  await client.queue({ queueName: "shipments" }).upsert({ parallelism: 2 });
  const report = { destination: url, label: "report", body: '{"kind":"report"}' };
  await client.schedules.create({ ...report, cron: "0 9 * * *", scheduleId: "daily-report" });
  await client.schedules.create({ ...report, cron: "*/15 * * * *", scheduleId: "stock" });
  await client.schedules.create({
    ...{ ...report, cron: "CRON_TZ=Europe/Berlin 30 7 * * 1", scheduleId: "weekly-mail" },
    headers: { "Content-Type": "application/json", "X-Shop": "north" },
  });
  await client.schedules.pause({ schedule: "weekly-mail" });
  const endpoints = ["archive", "search", "statistics"].map((name) => ({
    name,
    url: destination.url(`/${name}`),
  }));
  await client.urlGroups.addEndpoints({ name: "order-events", endpoints });
  await client.urlGroups.addEndpoints({ name: "returns", endpoints: endpoints.slice(0, 1) });
  const carrier = { key: "carrier", rate: 1, period: "1h" } as const;
  for (const parcel of [1, 2, 3, 4])
    await client.publishJSON({ url, body: { parcel }, flowControl: carrier });
  await client.publishJSON({ url, body: {}, flowControl: { key: "crm", parallelism: 5 } });
  await server.client.post("/v2/flowControl/erp/pin?parallelism=3");
}

type Step = (context: WorkflowContext<string>) => Promise<unknown>;

async function runs(
  settings: { readonly baseUrl: string; readonly token: string },
  endpoint: WorkflowEndpoint,
): Promise<void> {
  const client = new Workflows(settings);
  const options = { qstashClient: new Qstash(settings), disableTelemetry: true };
  const route = (path: string, run: Step): string =>
    endpoint.route(
      path,
      serve<string>(async (context) => void (await run(context)), options).handler,
    );
  const declined = new Error("the card was declined");
  declined.stack = "Error: the card was declined\n    at charge (order.ts:17)";
  const order = route("/workflows/order", async (context) => {
    await context.run("read-order", () => ({ order: 17, total: "51.90", currency: "EUR" }));
    await Promise.all([
      context.run("reserve", () => ({ warehouse: "north", parcels: 2 })),
      context.run("tell-customer", () => "told"),
    ]);
    await context.run("charge", () => {
      throw declined;
    });
  });
  const approval = route("/workflows/refund", async (context) => {
    await context.run("check", () => ({ refund: "12.50" }));
    await context.waitForEvent("approval", "refund-18", { timeout: "1d" });
  });
  const signup = route("/workflows/sign-up", async (context) => {
    await context.run("make-account", () => ({ account: "ada" }));
    await context.sleep("let-it-settle", 1);
    await Promise.all([
      context.run("welcome-mail", () => "sent"),
      context.run("add-to-crm", () => "added"),
    ]);
    await context.run("tell-sales", () => "told");
  });
  const reminder = route("/workflows/reminder", async (context) => context.sleep("a-day", "1d"));
  const start = { body: '{"shop":"north"}', retries: 1, retryDelay: "200" };
  for (const name of ["15", "16", "17"])
    await client.trigger({ ...start, url: order, workflowRunId: `order-${name}`, label: "orders" });
  for (const name of ["ada", "grace", "joan"])
    await client.trigger({
      ...start,
      url: signup,
      workflowRunId: `sign-up-${name}`,
      label: "sign-ups",
    });
  await client.trigger({ ...start, url: approval, workflowRunId: "refund-18", label: "refunds" });
  await client.trigger({ ...start, url: reminder, workflowRunId: "reminder-19" });
  await eventually(
    async () => (await client.logs({ count: 10 })).runs.map(({ workflowState }) => workflowState),
    (states) =>
      states.filter((state) => state === "RUN_FAILED").length === 3 &&
      states.filter((state) => state === "RUN_SUCCESS").length === 3,
  );
}
