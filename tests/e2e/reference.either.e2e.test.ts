/** Tests the API reference (docs/reference.md): how it is served, each of its examples, and a call from its page. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { browserPath, openBrowser, watchedPage } from "./browser.ts";
import { Client } from "./client.ts";
import { buildConsole, consoleFolder } from "./console-folder.ts";
import { Destination } from "./destination.ts";
import { type Estate, settle } from "./estate.ts";
import { type ExampleRequest, examplesOf } from "./examples-of.ts";
import { textOf } from "./json.ts";
import { basic, operatorEnv, operatorPassword, operatorUser } from "./operator.ts";
import { Proxy } from "./proxy.ts";
import { developmentToken } from "./server-process.ts";
import { startServer, type TestServer } from "./server.ts";
import { signIn } from "./console-site.ts";
import { readOnlyToken } from "./users.ts";

const pageBytesMax = 600_000;

let server: TestServer;
let destination: Destination;

beforeAll(async () => {
  buildConsole();
  const env = { ...operatorEnv, POSTHASTE_CONSOLE: consoleFolder };
  server = await startServer({ env, readOnlyToken });
  destination = await Destination.start();
});
afterAll(async () => {
  await destination.stop();
  await server.stop();
});

const apis = {
  gateway: () => ({ port: server.port, scheme: "token" }),
  management: () => ({ port: server.managementPort, scheme: "operator" }),
} as const;
type Api = keyof typeof apis;

const documentOf = async (api: Api) =>
  (await new Client(apis[api]().port, null).get("/openapi.json")).object();

describe.each(["gateway", "management"] as const)("%s serves", (api) => {
  const at = (path: string) => `http://127.0.0.1:${apis[api]().port}${path}`;

  it("the reference under a policy without eval, inline scripts, inline styles and other hosts", async () => {
    const page = await fetch(at("/docs/"));
    const moved = await fetch(at("/docs"), { redirect: "manual" });

    expect([page.status, page.headers.get("content-security-policy")]).toEqual([
      200,
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ]);
    expect([moved.status, moved.headers.get("location")]).toEqual([308, "docs/"]);
    for (const path of ["gateway.json", "licences.md", "assets/none.js", "..%2findex.html"])
      expect((await fetch(at(`/docs/${path}`))).status).not.toBe(200);
  });

  it("the reference in at most 600 kB, compressed, for caches to keep", async () => {
    const text = await (await fetch(at("/docs/"))).text();
    const assets = [...text.matchAll(/"(assets\/[^"]+)"/g)].map(([, asset = ""]) => asset);
    const replies = await Promise.all(assets.map((asset) => fetch(at(`/docs/${asset}`))));

    expect(assets).toHaveLength(4);
    for (const { headers } of replies) {
      expect(headers.get("content-encoding")).toBe("gzip");
      expect(headers.get("cache-control")).toMatch(/immutable/);
    }
    const bytes = replies.map(({ headers }) => Number(headers.get("content-length")));
    expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThan(pageBytesMax);
  });

  it("its own part of the document, with exactly the schemas that the part uses", async () => {
    const document = await documentOf(api);
    const text = JSON.stringify(document);
    const { schemas, securitySchemes } = document["components"] as Record<string, object>;

    expect(Object.keys(securitySchemes ?? {})).toEqual([apis[api]().scheme]);
    expect(document["servers"]).toEqual([{ url: "." }]);
    for (const name of Object.keys(schemas ?? {}))
      expect(text).toContain(`"#/components/schemas/${name}"`);
    expect(text.includes('"/v2/publish/{destination}"')).toBe(api === "gateway");
    expect(text.includes('"/v2/tenants"')).toBe(api === "management");
  });

  it("a redirect from / to the console for browsers alone", async () => {
    const ask = (accept: string, method = "GET") =>
      fetch(at("/"), { method, headers: { accept }, redirect: "manual" });
    const browser = await ask("text/html,application/xhtml+xml,*/*;q=0.8");
    const others = [
      await ask("*/*"),
      await ask("application/json"),
      await ask("text/html", "POST"),
    ];

    expect([browser.status, browser.headers.get("location")]).toEqual([302, "console/"]);
    expect(others.map(({ status }) => status)).toEqual([404, 404, 404]);
  });
});

describe("each example of the document does what the document says", () => {
  /** Operations whose subject an earlier example has removed, or that need a workflow client. */
  const elsewise: Readonly<Record<string, number>> = {
    cancelMessage: 404,
    removeDeadLetter: 404,
    cancelFailureFunction: 404,
    waitForEvent: 412,
  };
  /** The order of the examples: read, change, remove. Closing the tenant comes last. */
  const order = ["GET", "POST", "PATCH", "DELETE"];
  const inOrder = (one: ExampleRequest, other: ExampleRequest): number =>
    order.indexOf(one.method) - order.indexOf(other.method) ||
    Number(one.operation === "closeTenant") - Number(other.operation === "closeTenant");
  const host = (): string => new URL(destination.url("")).origin;

  it("of the gateway", async () => {
    const estate = await settle(server.client, destination, "examples");
    const requests = examplesOf(
      await documentOf("gateway"),
      (operation, name) => filledFrom(estate, operation)[name],
      host(),
    );

    const wrong: string[] = [];
    for (const { body, headers, method, operation, path } of requests.toSorted(inOrder)) {
      const { status, text } = await server.client.call(method, path, headers, body);
      if (status > 299 && status !== elsewise[operation])
        wrong.push(`${operation}: ${status} ${text}`);
    }

    expect(wrong).toEqual([]);
    expect(requests.length).toBeGreaterThan(70);
  });

  const filledFrom = (estate: Estate, operation: string): Readonly<Record<string, string>> => ({
    ...{ messageId: estate.messageId, actionId: estate.actionId, runId: estate.runId },
    dlqId: /run|failure/i.test(operation) ? estate.failedRun.dlqId : estate.dlqId,
    ...{ destination: destination.url("/orders"), urlGroupName: "group", queueName: "queue" },
    ...{ flowControlKey: "key", scheduleId: "schedule", eventId: "event" },
  });

  it("of the management API", async () => {
    const client = new Client(server.managementPort, null);
    const authorization = basic(operatorUser, operatorPassword);
    const made = { tokenId: "", index: "" };
    const fill = (operation: string, name: string): string | undefined => {
      if (name === "tokenId") return "{made token}";
      return name === "id" && /search|throughput/i.test(operation) ? "{made index}" : undefined;
    };
    const requests = examplesOf(await documentOf("management"), fill, host());
    const tenantsFirst = requests.toSorted(
      (one, other) =>
        Number(other.operation === "createTenant") - Number(one.operation === "createTenant") ||
        Number(other.operation === "enterSearchIndex") -
          Number(one.operation === "enterSearchIndex") ||
        Number(other.operation === "createToken") - Number(one.operation === "createToken") ||
        inOrder(one, other),
    );

    const wrong: string[] = [];
    for (const { body, headers, method, operation, path } of tenantsFirst) {
      const filled = path.replace("{made token}", made.tokenId).replace("{made index}", made.index);
      const reply = await client.call(method, filled, { ...headers, authorization }, body);
      if (reply.status > 299) wrong.push(`${operation}: ${reply.status} ${reply.text}`);
      else if (operation === "createToken") made.tokenId = textOf(reply.object()["id"]);
      else if (operation === "enterSearchIndex") made.index = textOf(reply.object()["id"]);
    }

    expect(wrong).toEqual([]);
    expect(requests.length).toBeGreaterThan(15);
  });
});

const journey = browserPath === undefined ? it.skip : it;

journey(
  "in a browser the page shows all groups, below a proxy's path too, and makes calls with a token and in a session",
  async () => {
    const proxy = await Proxy.start("/tools/", server.port);
    const browser = await openBrowser();
    try {
      const { page, troubles } = await watchedPage(browser, new URL(proxy.url).origin);
      await page.goto(`${proxy.url}docs/`);
      await page.getByRole("heading", { name: "Dead letters" }).waitFor();
      const tags = (await documentOf("gateway"))["tags"] as readonly { readonly name: string }[];
      for (const { name } of tags)
        expect(await page.locator(`[data-tag="${name}"]`).count()).toBe(1);

      await page.getByRole("button", { name: "Authorize" }).first().click();
      await page.locator(".auth-container input").fill(developmentToken);
      await page.locator(".auth-btn-wrapper .authorize").click();
      await page.locator(".close-modal").click();
      await page.locator('[data-tag="Account"]').click();
      await page.locator("#operations-Account-readMe .opblock-summary-control").click();
      await page.getByRole("button", { name: "Execute" }).click();
      const status = page.locator(".live-responses-table .response-col_status").nth(1);
      await status.waitFor();
      expect(await status.textContent()).toMatch(/^200/);

      const tab = await page.context().newPage();
      await tab.goto(`${proxy.url}console/`);
      await signIn(tab, readOnlyToken);
      await tab.goto(`${proxy.url}docs/`);
      await tab.getByText("Calls are made in your session of the console.").waitFor();
      await tab.locator('[data-tag="Account"]').click();
      await tab.locator("#operations-Account-readMe .opblock-summary-control").click();
      await tab.getByRole("button", { name: "Execute" }).click();
      await tab.locator(".live-responses-table").getByText('"read"').first().waitFor();

      expect(troubles).toEqual([]);
    } finally {
      await browser.close();
      await proxy.stop();
    }
  },
);
