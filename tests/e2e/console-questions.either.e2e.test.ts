/**
 * Tests the questions of an on-call engineer, and the actions that answer them: each at most two clicks from the overview,
 * with data that real SDKs sent.
 */
import { afterAll, beforeAll, describe, expect, jest } from "@jest/globals";
import { Client as Qstash } from "@upstash/qstash";
import { Client as Workflows, serve } from "@upstash/workflow";
import { browserPath } from "./browser.ts";
import { eventually, hasLength } from "./client.ts";
import { consolePages, journey } from "./console-pages.ts";
import { cutTables, find, isThere, settled } from "./console-site.ts";
import { developmentToken } from "./server-process.ts";
import { WorkflowEndpoint } from "./workflow-endpoint.ts";

const pages = consolePages();
let endpoint: WorkflowEndpoint;
let isMended = false;

const answer = '{"error":"the CRM is down for maintenance"}';
const settings = () => ({ baseUrl: pages.origin, token: developmentToken });

beforeAll(async () => {
  if (browserPath === undefined) return;
  // The SDK prints each error of a step.
  jest.spyOn(console, "error").mockImplementation(() => undefined);
  endpoint = await WorkflowEndpoint.start();
  await Promise.all([messages(), runs()]);
});
afterAll(() => endpoint?.stop());

async function messages(): Promise<void> {
  const client = new Qstash(settings());
  const url = pages.destination.url("/webhooks/crm");
  pages.destination.answers("/webhooks/crm", (_, response) =>
    isMended ? response.writeHead(200).end() : response.writeHead(503).end(answer),
  );
  for (const order of [15, 16, 17])
    await client.publishJSON({ url, body: { order }, retries: 0, label: `order-${order}` });
  const ok = pages.destination.url("/ok");
  await client.publishJSON({ url: ok, body: { order: 18 }, label: "order-18" });
  await client.queue({ queueName: "mails" }).upsert({ parallelism: 1, paused: true });
  await client.queue({ queueName: "mails" }).enqueueJSON({ url: ok, body: { mail: 1 } });
  await client.schedules.create({ destination: ok, cron: "0 9 * * *", scheduleId: "at-nine" });
  await pages.server.client.until("/v2/dlq", "messages", hasLength(3));
}

async function runs(): Promise<void> {
  const client = new Workflows(settings());
  const route = (path: string, run: Parameters<typeof serve<string>>[0]): string => {
    const options = { qstashClient: new Qstash(settings()), disableTelemetry: true };
    return endpoint.route(path, serve<string>(run, options).handler);
  };
  const failing = route("/charge", async (context) => {
    await context.run("reserve", () => "reserved");
    await context.run("charge", () => {
      throw new Error("the card was declined");
    });
  });
  const waiting = route("/approve", async (context) => {
    const { eventData } = await context.waitForEvent("approval", "order-18", { timeout: "1d" });
    await context.run("ship", () => eventData);
  });
  const start = { body: "payload", retries: 1, retryDelay: "10" };
  await client.trigger({ ...start, url: failing, workflowRunId: "order-17" });
  await client.trigger({ ...start, url: waiting, workflowRunId: "order-18" });
  await eventually(
    async () => (await client.logs({ workflowRunId: "wfr_order-17" })).runs,
    ([run]) => run?.workflowState === "RUN_FAILED",
  );
}

const overview = async () => {
  const opened = await pages.signedIn();
  await opened.page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  await settled(opened.page);
  return opened;
};

describe("two clicks from the overview show", () => {
  journey("why the webhook for order 17 failed, and what the receiver answered", async () => {
    const { page, allowed } = await overview();

    await find(page, "order-17", "messages with order-17");
    await page.getByRole("row").filter({ hasText: "order-17" }).getByRole("link").click();
    await isThere(page, "Failed after 1 attempt: status 503");
    await page.getByRole("region", { name: "Why" }).getByText(answer).waitFor();

    // The browser itself reports that the label is not an id.
    allowed.push(/404/);
  });

  journey("which destination fails most, why, and since when", async () => {
    const { page, look } = await overview();
    const failing = page.getByRole("region", { name: "Failing destinations", exact: true });

    const row = failing.getByRole("row").filter({ hasText: "/webhooks/crm" });
    await row.filter({ hasText: "3" }).filter({ hasText: "status 503" }).waitFor();
    await row.getByText(/ago|just now/).waitFor();
    await look();
    await row.getByRole("link").click();
    await page.getByRole("heading", { level: 1, name: "Messages" }).waitFor();
    await page.getByRole("row").filter({ hasText: "order-15" }).waitFor();
    await page.getByRole("link", { name: "Dead letters", exact: true }).click();
    await page.getByRole("row").filter({ hasText: "order-17" }).waitFor();
  });

  journey("what is stuck, and what holds it", async () => {
    const { page } = await overview();
    const held = page.getByRole("region", { name: "Held messages", exact: true });

    await held.getByRole("row").filter({ hasText: "mails" }).filter({ hasText: "paused" }).click();
    await page.getByRole("heading", { level: 1, name: "Queue mails" }).waitFor();
    await isThere(page, "The queue is paused");
    await page.getByRole("link", { name: "waiting", exact: true }).click();
    await page.getByRole("row").filter({ hasText: "mails" }).getByRole("link").click();
    await isThere(page, "The queue mails is paused");
  });

  journey("what fires at nine", async () => {
    const { page } = await overview();
    const next = page.getByRole("region", { name: "Next schedules", exact: true });

    const row = next.getByRole("row").filter({ hasText: "at-nine" });
    await row.filter({ hasText: "At 09:00 (UTC)" }).waitFor();
    await row.getByRole("link").click();
    await page.getByRole("heading", { level: 1, name: "Schedule at-nine" }).waitFor();
  });

  journey("which step of a run failed, with what error, after how many tries", async () => {
    const { page, look } = await overview();
    const failed = page.getByRole("region", { name: "Failed runs", exact: true });

    await failed.getByRole("row").filter({ hasText: "the card was declined" }).click();
    await isThere(page, "The step charge failed after 2 attempts: status 500, the card was");
    await page.getByRole("option", { name: /2 times: status 500, the card was/ }).waitFor();
    await look();
  });

  journey("whether the tenant is close to its limits", async () => {
    const { page, look } = await overview();

    await page.getByRole("link", { name: "Limits", exact: true }).click();
    await page.getByRole("row").filter({ hasText: "queuesMax" }).filter({ hasText: "1" }).waitFor();
    await look();
  });
});

describe("two clicks from the overview begin to", () => {
  journey("send a message again with a changed body", async () => {
    const { page, look, allowed } = await overview();
    pages.works("/changed");

    await find(page, "order-16", "messages with order-16");
    await page.getByRole("row").filter({ hasText: "order-16" }).getByRole("link").click();
    await page.getByRole("link", { name: "Send again…" }).click();
    await page.getByLabel("Destination", { exact: true }).fill(pages.destination.url("/changed"));
    await page.getByLabel("Body", { exact: true }).fill('{"order":16,"again":true}');
    await page.getByLabel("Retries", { exact: true }).fill("many");
    await page.getByText(`--data-binary '{"order":16,"again":true}'`).waitFor();
    await page.getByRole("button", { name: "Publish message" }).click();
    // The API's fault stands at its field, and the form keeps its values.
    await page.locator("[name=retries][aria-invalid=true]").waitFor();
    const retries = page.getByLabel("Retries", { exact: true });
    expect(await page.getByLabel("Body", { exact: true }).inputValue()).toContain("again");
    await look();
    await retries.fill("2");
    await page.getByRole("button", { name: "Publish message" }).click();
    await page.getByRole("heading", { level: 1, name: /Message msg_/ }).waitFor();
    const arrived = await pages.destination.arrival("/changed");

    expect(arrived.body.toString()).toBe('{"order":16,"again":true}');
    expect(arrived.headers["content-type"]).toBe("application/json");
    allowed.push(/40[04]/);
  });

  journey("send a long text, and see which header cannot be sent with it", async () => {
    const { page } = await pages.signedIn("#/publish");
    const field = (name: string) => page.getByLabel(name, { exact: true });
    const body = `\u202e${"long ".repeat(100_000)}`;

    await field("Destination").fill(pages.destination.url("/long"));
    await field("Body").fill(body);
    await field("Headers for the destination").fill("X Größe: 17");
    // Characters that reorder others are shown as numbers, and a long call in part.
    const call = page.locator("pre");
    await call.getByText("--data-binary '\\u202elong long").waitFor();
    expect((await call.innerText()).length).toBeLessThan(50_000);
    await page.getByRole("button", { name: "Publish message" }).click();
    await page.locator("[name=forwarded][aria-invalid=true]").waitFor();
    await isThere(page, "Service-Forward-X Größe: is not a header that a browser can send");
    await field("Headers for the destination").fill("X-Size: 17");
    await page.getByRole("button", { name: "Publish message" }).click();
    await page.getByRole("heading", { level: 1, name: /Message msg_/ }).waitFor();

    expect((await pages.destination.arrival("/long")).body.toString()).toBe(body);
  });

  journey("approve the run that waits", async () => {
    const { page, look } = await overview();
    const waits = page.getByRole("region", { name: "Runs that wait for an event", exact: true });

    await waits.getByRole("row").filter({ hasText: "wfr_order-18" }).click();
    await isThere(page, "The step approval waits for the event order-18");
    await page.getByRole("button", { name: "Send event…" }).click();
    await page.getByLabel("Data of the event").fill('{"approved":"by ada"}');
    await look();
    await page.getByRole("button", { name: "Send event", exact: true }).click();
    await page.getByText(/^succeeded$/).waitFor();
    await page.getByRole("option", { name: /ship/ }).click();
    await page.getByRole("region", { name: "Step ship" }).getByText("by ada").waitFor();
  });

  journey("retry everything that failed at a host since a time", async () => {
    const { page } = await overview();
    const reasons = page.getByRole("region", {
      name: "Dead letters by destination and reason",
      exact: true,
    });

    await reasons.getByRole("row").filter({ hasText: "/webhooks/crm" }).click();
    await page.waitForURL(/host=127/);
    await page.getByRole("button", { name: "Since" }).click();
    await page.getByRole("menuitem", { name: "The last hour" }).click();
    await page.waitForURL(/fromDate=/);
    await page.getByRole("button", { name: "Retry all of these" }).click();
    await isThere(page, "3 dead letters would be retried");
    isMended = true;
    await page.getByRole("button", { name: "Retry 3" }).click();
    await isThere(page, "3 of 3 retried");
    await pages.destination.arrivals("/webhooks/crm", 6);

    expect(await pages.server.client.listed("/v2/dlq", "messages")).toEqual([]);
  });

  journey("make a queue and a schedule, and change them", async () => {
    const { page } = await overview();
    const { client } = pages.server;

    await page.getByRole("link", { name: "Queues", exact: true }).click();
    await page.getByRole("button", { name: "New queue" }).click();
    await page.getByLabel("Name", { exact: true }).fill("made-here");
    await page.getByLabel("Parallelism").fill("3");
    await page.getByRole("button", { name: "Create queue" }).click();
    await page.getByRole("heading", { level: 1, name: "Queue made-here" }).waitFor();
    await page.getByRole("button", { name: "Edit…" }).click();
    await page.getByLabel("Parallelism").fill("5");
    await page.getByRole("button", { name: "Save queue" }).click();
    await page.getByRole("dialog", { name: /^Change/ }).waitFor({ state: "detached" });
    expect((await client.get("/v2/queues/made-here")).object()["parallelism"]).toBe(5);

    await page.getByRole("link", { name: "Schedules", exact: true }).click();
    await page.getByRole("link", { name: "New schedule" }).click();
    await page.getByLabel("Destination", { exact: true }).fill(pages.destination.url("/ok"));
    await page.getByLabel("Cron", { exact: true }).fill("30 7 * * 1");
    await page.getByLabel("Id of the schedule").fill("made-here");
    await isThere(page, "At 07:30, only on Monday (UTC)");
    await page.getByRole("button", { name: "Save schedule" }).click();
    await page.getByRole("heading", { level: 1, name: "Schedule made-here" }).waitFor();
    await page.getByRole("link", { name: "Edit…" }).click();
    await page.getByLabel("Cron", { exact: true }).fill("30 8 * * 1");
    await page.getByRole("button", { name: "Save schedule" }).click();
    await page.getByRole("heading", { level: 1, name: "Schedule made-here" }).waitFor();
    expect((await client.get("/v2/schedules/made-here")).object()["cron"]).toBe("30 8 * * 1");
  });
});

describe("a session that has ended", () => {
  journey("is begun again above the page, and what was typed stays", async () => {
    const { page, allowed } = await overview();
    const refused = { status: 401, json: { error: "the token is missing or unknown" } };

    await page.getByRole("link", { name: "Publish" }).click();
    await page.getByLabel("Body", { exact: true }).fill("typed before");
    await page.getByLabel("Destination", { exact: true }).fill(pages.destination.url("/ok"));
    await page.route("**/v2/publish/**", (route) => route.fulfill(refused));
    await page.getByRole("button", { name: "Publish message" }).click();
    await page.getByRole("dialog", { name: "Sign in again" }).waitFor();
    await page.unroute("**/v2/publish/**");
    await page.getByLabel("Token").fill(developmentToken);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("dialog", { name: "Sign in again" }).waitFor({ state: "detached" });

    expect(await page.getByLabel("Body", { exact: true }).inputValue()).toBe("typed before");
    await page.getByRole("button", { name: "Publish message" }).click();
    await page.getByRole("heading", { level: 1, name: /Message msg_/ }).waitFor();
    allowed.push(/401/);
  });
});

describe("at 1280 pixels", () => {
  journey("no list is cut off", async () => {
    const opened = await overview();
    const { page } = opened;
    await page.getByRole("row").filter({ hasText: "/webhooks/crm" }).first().waitFor();
    const cut = [...(await cutTables(page))];

    for (const title of ["Messages", "Dead letters", "Runs", "Schedules", "Queues"]) {
      await page.getByRole("link", { name: title, exact: true }).click();
      await page.getByRole("heading", { level: 1, name: title }).waitFor();
      await settled(page);
      cut.push(...(await cutTables(page)));
    }

    expect(cut).toEqual([]);
  });
});

describe("on a phone", () => {
  journey("lists are cards, no page is wider than the screen, and the menu opens", async () => {
    const viewport = { width: 390, height: 844 };
    const { page, look } = await pages.phone("#/messages", viewport);

    await page.getByRole("row").filter({ hasText: "order-18" }).waitFor();
    const wider = () => page.evaluate("document.documentElement.scrollWidth - innerWidth");
    expect(await wider()).toBe(0);
    await look();
    await page.getByRole("button", { name: "Menu" }).click();
    await page
      .getByRole("dialog", { name: "Menu" })
      .getByRole("link", { name: "Runs", exact: true })
      .click();
    await page.getByRole("heading", { level: 1, name: "Runs" }).waitFor();
    await page.getByRole("row").filter({ hasText: "wfr_order-17" }).getByRole("link").click();
    await page.getByRole("listbox", { name: "Steps in their order" }).waitFor();
    expect(await wider()).toBe(0);
  });
});
