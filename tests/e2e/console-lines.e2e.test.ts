/** What is paused, pinned and removed in the console, and the operator's own console. */
import { describe, expect } from "@jest/globals";
import { eventually } from "./client.ts";
import { consolePages, goTo, isThere, journey, picture, visit } from "./console-pages.ts";
import { Operator, operatorPassword, operatorUser, untilStatus } from "./operator.ts";

const pages = consolePages();
const field = async (path: string, name: string) =>
  (await pages.server.client.get(path)).object()[name];

describe("schedules", () => {
  journey(
    "are paused and resumed, read with their times, and removed when that is confirmed",
    async () => {
      const target = pages.destination.url("/nightly");
      const headers = { "service-cron": "0 3 * * *", "service-schedule-id": "nightly" };
      await pages.server.client.post(`/v2/schedules/${target}`, headers, '{"kind":"nightly"}');
      const opened = await pages.signedIn();
      const { page } = opened;

      await visit(opened, "/schedules", "Schedules");
      await page.getByRole("button", { name: "Pause nightly" }).click();
      await page.getByRole("button", { name: "Resume nightly" }).waitFor();
      expect(await field("/v2/schedules/nightly", "isPaused")).toBe(true);
      await page.getByRole("button", { name: "Resume nightly" }).click();
      await page.getByRole("button", { name: "Pause nightly" }).waitFor();
      await page.getByRole("link", { name: "nightly" }).click();
      await page.getByRole("heading", { level: 1, name: "Schedule nightly" }).waitFor();
      await isThere(page, "0 3 * * *");
      await isThere(page, '"kind": "nightly"');
      await opened.look();
      await page.getByRole("button", { name: "Remove nightly" }).click();
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Remove nightly" }).click();
      await page.getByRole("button", { name: "Yes, remove nightly" }).click();
      await page.getByRole("heading", { level: 1, name: "Schedules" }).waitFor();

      await eventually(
        () => pages.server.client.get("/v2/schedules/nightly"),
        ({ status }) => status === 404,
      );
    },
  );

  journey("of more than a page are read page by page", async () => {
    const made = Array.from({ length: 105 }, (_, nth) =>
      pages.server.client.post(`/v2/schedules/${pages.destination.url("/paged")}`, {
        "service-cron": "0 0 1 1 *",
        "service-schedule-id": `paged-${nth}`,
      }),
    );
    await Promise.all(made);
    const { page } = await pages.signedIn("#/schedules");
    const rows = page.getByRole("table").locator("tbody tr");

    await page.getByRole("button", { name: "Next page" }).click();
    await page.getByRole("button", { name: "First page" }).waitFor();
    await eventually(
      () => rows.count(),
      (count) => count > 0 && count < 100,
    );
    await page.getByRole("button", { name: "First page" }).click();
    await eventually(
      () => rows.count(),
      (count) => count === 100,
    );
  });
});

describe("queues", () => {
  journey(
    "are paused, resumed, and deleted with their messages when that is confirmed",
    async () => {
      const { client } = pages.server;
      await client.post("/v2/queues", {}, '{"queueName":"mails","paused":true}');
      await client.post(`/v2/enqueue/mails/${pages.destination.url("/mails")}`);
      const opened = await pages.signedIn();
      const { page } = opened;

      await visit(opened, "/queues", "Queues");
      await page.getByRole("button", { name: "Resume mails" }).click();
      await page.getByRole("button", { name: "Pause mails" }).waitFor();
      await pages.destination.arrival("/mails");
      await page.getByRole("button", { name: "Pause mails" }).click();
      await page.getByRole("button", { name: "Resume mails" }).waitFor();
      expect(await field("/v2/queues/mails", "paused")).toBe(true);
      await page.getByRole("button", { name: "Delete with its messages mails" }).click();
      await page.getByRole("button", { name: /^Yes, delete/ }).click();

      await eventually(
        () => client.get("/v2/queues/mails"),
        ({ status }) => status === 404,
      );
    },
  );
});

describe("groups", () => {
  journey("get and lose endpoints, and say why one is refused", async () => {
    const { client } = pages.server;
    const endpoints = [{ url: pages.destination.url("/audit"), name: "archive" }];
    await client.post("/v2/topics/audit/endpoints", {}, JSON.stringify({ endpoints }));
    const opened = await pages.signedIn();
    const { page, troubles } = opened;
    const other = pages.destination.url("/other");

    await visit(opened, "/groups", "Groups");
    await page.getByRole("link", { name: "audit" }).click();
    await page.getByLabel("URL", { exact: true }).fill("no-url");
    await page.getByRole("button", { name: "Add the endpoint" }).click();
    await page.getByRole("alert").getByText("endpoints[0].url").waitFor();
    await page.getByLabel("URL", { exact: true }).fill(other);
    await page.getByRole("button", { name: "Add the endpoint" }).click();
    await page.getByRole("button", { name: `Remove ${other}` }).waitFor();
    await opened.look();
    await page.getByRole("button", { name: `Remove ${other}` }).click();
    await page.getByRole("button", { name: `Yes, remove ${other}` }).click();
    await eventually(
      async () => (await client.get("/v2/topics/audit")).list("endpoints"),
      (left) => left.length === 1,
    );

    // The browser itself notes the refusal.
    expect(troubles.splice(0).filter((text) => !text.includes("400"))).toEqual([]);
  });
});

describe("flow keys", () => {
  journey("are filtered, paused, resumed, pinned and unpinned", async () => {
    const target = pages.destination.url("/flow");
    // A key may hold any of these.
    for (const key of ["crm:api/v1?x=1&y", "erp-api"])
      await pages.server.client.published(target, {
        "service-flow-control-key": key,
        "service-flow-control-value": "parallelism=2, rate=10, period=1m",
      });
    const key = "crm:api/v1?x=1&y";
    const at = `/v2/flowControl/${encodeURIComponent(key)}`;
    const opened = await pages.signedIn();
    const { page } = opened;

    await visit(opened, "/flow-keys", "Flow keys");
    await isThere(page, "erp-api");
    await page.getByLabel("Part of the key").fill("crm");
    await page.getByRole("button", { name: "Filter", exact: true }).click();
    await page.waitForURL(/search=crm/);
    await page.getByText("erp-api").waitFor({ state: "detached" });
    await page.getByRole("button", { name: `Pause ${key}` }).click();
    await page.getByRole("button", { name: `Resume ${key}` }).waitFor();
    expect(await field(at, "isPaused")).toBe(true);
    await page.getByRole("button", { name: `Resume ${key}` }).click();
    await page.getByRole("button", { name: `Pause ${key}` }).waitFor();
    await page.getByRole("button", { name: `Pin ${key}` }).click();
    await page.getByLabel("At once").fill("7");
    await page.getByLabel("Rate").fill("");
    await opened.look();
    await page.getByRole("button", { name: "Pin", exact: true }).click();
    await page.getByRole("button", { name: `Unpin ${key}` }).waitFor();
    const pinned = [await field(at, "parallelismMax"), await field(at, "isPinnedParallelism")];
    await page.getByRole("button", { name: `Unpin ${key}` }).click();
    await page.getByRole("button", { name: `Unpin ${key}` }).waitFor({ state: "detached" });

    expect(pinned).toEqual([7, true]);
    expect(await field(at, "isPinnedParallelism")).toBe(false);
  });
});

describe("the operator's console", () => {
  const at = () => `http://127.0.0.1:${pages.server.managementPort}/console/`;
  const signIn = async (password: string) => {
    const opened = await pages.open(at());
    await opened.page.getByLabel("User").fill(operatorUser);
    await opened.page.getByLabel("Password").fill(password);
    await opened.page.getByRole("button", { name: "Sign in" }).click();
    return opened;
  };

  journey("is not entered without the password, and keeps none", async () => {
    const { page, troubles } = await signIn("a-wrong-password");

    await page.getByRole("alert").getByText("no or wrong user and password").waitFor();
    expect(await page.evaluate("sessionStorage.length + localStorage.length")).toBe(0);
    expect(troubles.splice(0).filter((text) => !text.includes("401"))).toEqual([]);
  });

  journey(
    "makes a tenant and its tokens, changes its plan, revokes a token, and closes it",
    async () => {
      const operator = new Operator(pages.server);
      const opened = await signIn(operatorPassword);
      const { page } = opened;

      await page.getByRole("heading", { level: 1, name: "Tenants" }).waitFor();
      await opened.look();
      await page.getByLabel("Id", { exact: true }).fill("acme");
      await page.getByRole("button", { name: "Make the tenant" }).click();
      await page.getByRole("heading", { level: 1, name: "Tenant acme" }).waitFor();
      await page.getByLabel("It may").selectOption({ label: "may only read" });
      await page.getByRole("button", { name: "Make a token" }).click();
      await page.getByText("Shown this once").waitFor();
      const token = (await page.locator(".secret").textContent()) ?? "";
      await opened.look();
      await picture(page, "operator", 500);
      await page.getByLabel("Retries by default").fill("5");
      await page.getByRole("button", { name: "Change the plan" }).click();
      await eventually(
        async () => (await operator.get("/v2/tenants/acme")).text,
        (text) => text.includes('"retriesDefault":5'),
      );

      const { Client } = await import("./client.ts");
      const caller = new Client(pages.server.port, token);
      await untilStatus(caller, 200);
      await page.getByRole("button", { name: /^Revoke/ }).click();
      await page.getByRole("button", { name: /^Yes, revoke/ }).click();
      await untilStatus(caller, 401);
      await page.getByRole("button", { name: "Close the tenant acme" }).click();
      await page.getByRole("button", { name: /^Yes, close/ }).click();
      await page.getByRole("heading", { level: 1, name: "Tenants" }).waitFor();

      expect((await operator.get("/v2/tenants/acme")).status).toBe(404);
      expect(await page.evaluate("sessionStorage.length + localStorage.length")).toBe(0);
      await goTo(page, "/nowhere");
      await page.getByRole("heading", { level: 1, name: "There is no such page" }).waitFor();
    },
  );

  journey("is served compressed and under the same policy as a tenant's", async () => {
    const reply = await fetch(at());

    expect(reply.headers.get("content-security-policy")).toMatch(/^default-src 'none'/);
    expect(reply.headers.get("content-encoding")).toBe("gzip");
    expect(await reply.text()).toContain("operator");
  });
});
