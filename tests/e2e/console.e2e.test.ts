/** The console in a real browser: find what failed, mend it, try again. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it, jest } from "@jest/globals";
import { Client as Qstash } from "@upstash/qstash";
import { Client as Workflows, serve } from "@upstash/workflow";
import { type Browser, type Page } from "playwright-core";
import { browserPath, openBrowser, watchedPage, type WatchedPage } from "./browser.ts";
import { eventually } from "./client.ts";
import { Destination } from "./destination.ts";
import { developmentToken } from "./server-process.ts";
import { startServer, type TestServer } from "./server.ts";
import { WorkflowEndpoint } from "./workflow-endpoint.ts";

const readOnlyToken = "a-token-that-may-only-read-in-the-console";
const root = join(import.meta.dirname, "../..");
const firstLoadBytesMax = 150_000;
const hostile = `<img src=x onerror="alert(1)"><script>alert(2)</script>\u0000\u202e${"x".repeat(50_000)}`;

const journey = browserPath === undefined ? it.skip : it;

let folder: string;
let server: TestServer;
let destination: Destination;
let browser: Browser | undefined;
const watched: WatchedPage[] = [];

beforeAll(async () => {
  if (browserPath === undefined) return;
  folder = mkdtempSync(join(tmpdir(), "posthaste-console-"));
  const app = join(root, "apps/console");
  const vite = dirname(createRequire(join(app, "package.json")).resolve("vite/package.json"));
  const args = ["build", app, "--outDir", folder, "--logLevel", "error"];
  execFileSync(process.execPath, [join(vite, "bin/vite.js"), ...args], { stdio: "pipe" });
  server = await startServer({ env: { POSTHASTE_CONSOLE: folder }, readOnlyToken });
  destination = await Destination.start();
  browser = await openBrowser();
});
afterAll(async () => {
  if (browserPath === undefined) return;
  await browser?.close();
  await destination.stop();
  await server.stop();
  rmSync(folder, { recursive: true });
});

const origin = (): string => `http://127.0.0.1:${server.port}`;

/** A page of its own, signed in. */
async function signedIn(token = developmentToken, at = ""): Promise<WatchedPage> {
  if (!browser) throw new Error("there is no browser");
  const opened = await watchedPage(browser, origin());
  watched.push(opened);
  const { page } = opened;
  await page.goto(`${origin()}/console/${at}`);
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
  return opened;
}

/** Dead letters of this label. */
async function failed(label: string, count: number, body = ""): Promise<readonly string[]> {
  destination.answers(`/${label}`, (_, response) => response.writeHead(500).end(body));
  const headers = { "Service-Label": label, "Service-Retries": "0" };
  const ids: string[] = [];
  for (let i = 0; i < count; i++)
    ids.push(await server.client.published(destination.url(`/${label}`), headers, body));
  await eventually(
    () => server.client.get(`/v2/dlq?label=${label}`),
    (reply) => reply.list("messages").length === count,
  );
  return ids;
}

const isThere = (page: Page, text: string) => page.getByText(text).first().waitFor();

describe("the console", () => {
  journey("is served with a policy that lets in nothing but its own files", async () => {
    const reply = await fetch(`${origin()}/console/`);
    const moved = await fetch(`${origin()}/console?x=1`, { redirect: "manual" });

    expect(reply.headers.get("content-security-policy")).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(reply.headers.get("x-content-type-options")).toBe("nosniff");
    expect([moved.status, moved.headers.get("location")]).toEqual([308, "console/"]);
    for (const path of ["assets/none.js", "..%2f..%2fpackage.json", "assets/../index.html.js", "x"])
      expect((await fetch(`${origin()}/console/${path}`)).status).toBe(404);
  });

  journey("says in the server's words why a token is not taken, and keeps none", async () => {
    if (!browser) throw new Error("there is no browser");
    const page = await browser.newPage();
    await page.goto(`${origin()}/console/`);
    await page.getByLabel("Token").fill("unknown");
    await page.getByRole("button", { name: "Sign in" }).click();

    await page.getByRole("alert").getByText("no or unknown token").waitFor();
    expect(await page.evaluate("localStorage.length + document.cookie.length")).toBe(0);
    await page.close();
  });

  journey("loads for the first time with no more than 150 kB, compressed", async () => {
    const { loaded } = await signedIn();

    const bytes = loaded.map((body) => gzipSync(body).length).reduce((sum, one) => sum + one, 0);
    expect(loaded.length).toBeGreaterThanOrEqual(3);
    expect(bytes).toBeLessThanOrEqual(firstLoadBytesMax);
  });

  journey("finds a message by its id, and by filters that stand in the address", async () => {
    const [id = ""] = await failed("found", 1);
    const { page, findings } = await signedIn();

    await page.getByLabel("Id of a message or run").fill(id);
    await page.getByRole("button", { name: "Go" }).click();
    await isThere(page, "status 500");
    const found = await findings();
    await page.getByRole("link", { name: "Messages" }).click();
    await page.getByLabel("label", { exact: true }).fill("found");
    await page.getByRole("button", { name: "Filter" }).click();
    await page.waitForURL(/label=found/);
    await page.getByRole("link", { name: id }).first().waitFor();

    expect(found).toEqual([]);
    expect(await findings()).toEqual([]);
    await page.goto(`${origin()}/console/#/messages?label=none-has-it`);
    await isThere(page, "Events, newest first: none");
  });

  journey("retries all dead letters of a filter: what these are first, then the work", async () => {
    await failed("again", 3);
    const { page, findings } = await signedIn(developmentToken, "#/dead-letters?label=again");
    destination.answers("/again", (_, response) => response.writeHead(200).end());

    await page.getByRole("button", { name: "Retry all of these" }).click();
    await isThere(page, "3 dead letters would be retried");
    const before = (await server.client.get("/v2/dlq?label=again")).list("messages");
    expect(await findings()).toEqual([]);
    await page.getByRole("button", { name: "Retry 3" }).click();
    await isThere(page, "3 of 3 retried");
    await isThere(page, "Dead letters, newest first: none");

    expect(before).toHaveLength(3);
    expect((await server.client.get("/v2/dlq?label=again")).list("messages")).toEqual([]);
  });

  journey("shows a run step by step, and restarts one that failed", async () => {
    // The SDK prints each error of a step.
    jest.spyOn(console, "error").mockImplementation(() => undefined);
    const endpoint = await WorkflowEndpoint.start();
    const settings = { baseUrl: origin(), token: developmentToken };
    let isBroken = true;
    const route = serve<string>(
      async (context) => {
        const first = await context.run("first-step", () => `seen ${context.requestPayload}`);
        await context.run("second-step", () => {
          if (isBroken) throw new Error("broken");
          return first;
        });
      },
      { qstashClient: new Qstash(settings), disableTelemetry: true },
    );
    const url = endpoint.route("/of-the-console", route.handler);
    const client = new Workflows(settings);
    const { workflowRunId } = await client.trigger({ url, body: "payload", retries: 0 });
    const statesOf = async () => (await client.logs({ workflowUrl: url })).runs;
    await eventually(statesOf, (runs) => runs[0]?.workflowState === "RUN_FAILED");
    const { page, findings } = await signedIn(developmentToken, "#/runs");

    await page.getByRole("link", { name: workflowRunId }).click();
    await isThere(page, "first-step");
    await page.getByText("Show", { exact: true }).last().click();
    const shown = await page.locator("main").textContent();
    const found = await findings();
    isBroken = false;
    await page.getByRole("button", { name: "Restart" }).click();
    await eventually(statesOf, (runs) =>
      runs.some(({ workflowState }) => workflowState === "RUN_SUCCESS"),
    );
    await page.getByRole("link", { name: "Runs" }).click();
    await isThere(page, "RUN_SUCCESS");
    await endpoint.stop();

    expect(shown).toContain("seen payload");
    expect(found).toEqual([]);
  });

  journey("pauses and resumes a queue", async () => {
    await server.client.post("/v2/queues", {}, '{"queueName":"of-the-console"}');
    const { page, findings } = await signedIn(developmentToken, "#/queues");

    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "Resume" }).waitFor();
    const paused = await server.client.get("/v2/queues/of-the-console");
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByRole("button", { name: "Pause" }).waitFor();

    expect(paused.object()["paused"]).toBe(true);
    expect(await findings()).toEqual([]);
  });

  journey("shows a token that may only read no control that writes", async () => {
    await failed("looked-at", 1);
    await server.client.post("/v2/queues", {}, '{"queueName":"of-the-console"}');
    const { page } = await signedIn(readOnlyToken, "#/dead-letters?label=looked-at");
    await isThere(page, "looked-at");

    const names: string[] = [];
    for (const path of ["dead-letters", "messages", "runs", "schedules", "queues", "flow-keys"]) {
      await page.goto(`${origin()}/console/#/${path}`);
      await page.getByRole("table").waitFor();
      names.push(...(await page.getByRole("button").allTextContents()));
    }

    const harmless = new Set(["Go", "Filter", "Sign out", "Next page"]);
    expect(names.filter((name) => !harmless.has(name))).toEqual([]);
  });

  journey("shows hostile text as text", async () => {
    const [id = ""] = await failed("hostile", 1, hostile);
    const { page } = await signedIn(developmentToken, `#/messages/${id}`);
    await isThere(page, "status 500");
    await page.getByText("Response", { exact: true }).click();
    const shown = await page.locator("main").textContent();

    expect(await page.locator("img, main script").count()).toBe(0);
    expect(shown?.includes("<script>alert(2)</script>")).toBe(true);
    expect(shown?.includes("\\u0000\\u202ex")).toBe(true);
  });

  journey("has never asked another origin, met its own policy or told an error", () => {
    expect(watched.length).toBeGreaterThan(5);
    expect(watched.flatMap(({ troubles }) => troubles)).toEqual([]);
  });
});
