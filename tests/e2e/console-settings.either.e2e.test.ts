/** Tests the console's pages of schedules, queues, groups and flow keys, and the operator's console, in a real browser. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect } from "@jest/globals";
import { Client, eventually, hasStatus, hasLength, includes, equals } from "./client.ts";
import { consolePages, journey } from "./console-pages.ts";
import { goTo, isIn, isThere, settled, signOut, visit } from "./console-site.ts";
import {
  Operator,
  operatorPassword,
  operatorUser,
  otherPasswords,
  untilStatus,
} from "./operator.ts";
import { firstUser } from "./users.ts";
import { developmentToken } from "./server-process.ts";

const pages = consolePages();

const inShell = promisify(execFile);

const field = async (path: string, name: string) =>
  (await pages.server.client.get(path)).object()[name];

describe("schedules", () => {
  journey(
    "are paused and resumed, shown with their times, and removed after a confirmation",
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
      await isThere(page, "At 03:00 (UTC)");
      await isThere(page, "0 3 * * *");
      await isThere(page, '"kind": "nightly"');
      await opened.look();
      await page.getByRole("button", { name: "Remove nightly" }).click();
      await page.getByRole("alertdialog").waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("alertdialog").waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Remove nightly" }).click();
      await page.getByRole("button", { name: "Yes, remove nightly" }).click();
      await page.getByRole("heading", { level: 1, name: "Schedules" }).waitFor();

      await eventually(() => pages.server.client.get("/v2/schedules/nightly"), hasStatus(404));
    },
  );

  journey("are made again by the copied curl command", async () => {
    const { client } = pages.server;
    const target = pages.destination.url("/copied?a=1&b=it's");
    const headers = {
      "service-cron": "CRON_TZ=Europe/Berlin 30 7 * * 1",
      "service-schedule-id": "copied",
      "service-method": "PUT",
      "service-retries": "4",
      "service-retry-delay": "1000 * (1 + retried)",
      "service-timeout": "20s",
      "service-delay": "1m",
      "service-label": "copied, twice",
      "service-queue-name": "copied",
      "service-callback": pages.destination.url("/copied-back"),
      "service-failure-callback": pages.destination.url("/copied-failed"),
      "service-forward-x-kept": 'it\'s "kept" $HOME `id`',
      "content-type": "application/json",
    };
    await client.post(`/v2/schedules/${target}`, headers, `{"it's":"$HOME \\n"}`);
    const read = async () => {
      const {
        createdAt: _,
        nextScheduleTime: _next,
        ...schedule
      } = (await client.get("/v2/schedules/copied")).object();
      return schedule;
    };
    const before = await read();
    const { page } = await pages.signedIn("#/schedules/copied");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);

    await page.getByRole("button", { name: "Copy as curl" }).click();
    await isThere(page, "Copied");
    const curl = String(await page.evaluate("navigator.clipboard.readText()"));
    await client.delete("/v2/schedules/copied");
    const env = { ...process.env, TOKEN: developmentToken };
    const { stdout } = await inShell("sh", ["-c", curl], { env });

    expect(JSON.parse(stdout)).toEqual({ scheduleId: "copied" });
    expect(await read()).toEqual(before);
  });

  journey("that fill several pages are listed page by page", async () => {
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
    await eventually(() => rows.count(), equals(100));
  });
});

describe("queues", () => {
  journey("are paused, resumed, and deleted with their messages after a confirmation", async () => {
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
    await page.getByRole("button", { name: "Delete mails" }).click();
    await page.getByRole("button", { name: /^Yes, delete/ }).click();

    await eventually(() => client.get("/v2/queues/mails"), hasStatus(404));
  });
});

describe("groups", () => {
  journey("get and lose endpoints, and show why one is refused", async () => {
    const { client } = pages.server;
    const endpoints = [{ url: pages.destination.url("/audit"), name: "archive" }];
    await client.postJson("/v2/topics/audit/endpoints", { endpoints });
    const opened = await pages.signedIn();
    const { page, allowed } = opened;
    const other = pages.destination.url("/other");

    await visit(opened, "/groups", "Groups");
    await page.getByRole("link", { name: "audit", exact: true }).click();
    await page.getByLabel("URL", { exact: true }).fill("no-url");
    await page.getByRole("button", { name: "Add endpoint" }).click();
    await page.getByText("endpoints[0].url").waitFor();
    expect(await page.getByLabel("URL", { exact: true }).getAttribute("aria-invalid")).toBe("true");
    await page.getByLabel("URL", { exact: true }).fill(other);
    await page.getByRole("button", { name: "Add endpoint" }).click();
    await page.getByRole("button", { name: `Remove ${other}` }).waitFor();
    await opened.look();
    await page.getByRole("button", { name: `Remove ${other}` }).click();
    await page.getByRole("button", { name: `Yes, remove ${other}` }).click();
    await client.until("/v2/topics/audit", "endpoints", hasLength(1));

    allowed.push(/400/);
  });

  journey("have settings that their publishes take, or the field shows why not", async () => {
    const { client } = pages.server;
    const endpoints = [{ url: pages.destination.url("/settled") }];
    await client.postJson("/v2/topics/settled/endpoints", { endpoints });
    const opened = await pages.signedIn("#/groups/settled");
    const { page, allowed } = opened;
    const field = page.getByLabel("Headers for publishes that do not set their own");
    const change = page.getByRole("button", { name: "Save default headers" });

    await field.fill("Service-Retires: 5");
    await change.click();
    await page.locator("[name=headers][aria-invalid=true]").waitFor();
    await isThere(page, /Service-Retries/);
    expect(await field.inputValue()).toBe("Service-Retires: 5");
    await opened.look();
    await field.fill("Service-Retries: 5\nService-Label: of-settled\nService-Delay: 1h");
    await change.click();
    await isThere(page, "The default headers were saved.");
    await page.reload();
    await eventually(() => field.inputValue(), includes("Service-Retries: 5"));
    const [made] = (await client.post("/v2/publish/settled")).list();
    const id = String(made?.["messageId"]);
    const message = await eventually(() => client.get(`/v2/messages/${id}`), hasStatus(200));

    expect(message.object()).toMatchObject({ maxRetries: 5, label: "of-settled" });
    allowed.push(/400/);
  });
});

describe("flow keys", () => {
  journey("are pinned before any publish names them, or the field shows why not", async () => {
    const key = "new:key/1 & more";
    const at = `/v2/flowControl/${encodeURIComponent(key)}`;
    const opened = await pages.signedIn("#/flow-keys");
    const { page, allowed } = opened;

    await page.getByRole("button", { name: "Pin a flow key" }).click();
    await page.getByLabel("Key", { exact: true }).fill(key);
    await page.getByLabel("Parallelism").fill("3");
    await page.getByLabel("Rate").fill("20");
    await page.getByLabel("Period in seconds").fill("99999999");
    await page.getByRole("button", { name: "Pin", exact: true }).click();
    await page.locator("[name=period][aria-invalid=true]").waitFor();
    await opened.look();
    expect(await page.getByLabel("Key", { exact: true }).inputValue()).toBe(key);
    await page.getByLabel("Period in seconds").fill("60");
    await page.getByRole("button", { name: "Pin", exact: true }).click();
    await page.getByRole("button", { name: `Unpin ${key}` }).waitFor();
    const row = page.getByRole("row").filter({ hasText: key });
    await row.filter({ hasText: "0 of 3 pinned" }).waitFor();

    expect((await pages.server.client.get(at)).object()).toMatchObject({
      parallelismMax: 3,
      isPinnedParallelism: true,
      rateMax: 20,
      ratePeriod: 60,
      isPinnedRate: true,
    });
    allowed.push(/400/);
  });

  journey("are filtered, paused, resumed, pinned and unpinned", async () => {
    const target = pages.destination.url("/flow");
    // A key may contain any of these.
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
    await page.getByLabel("Part of the flow key").fill("crm");
    await page.getByRole("button", { name: "Filter", exact: true }).click();
    await page.waitForURL(/search=crm/);
    await page.getByText("erp-api").waitFor({ state: "detached" });
    await page.getByRole("button", { name: `Pause ${key}` }).click();
    await page.getByRole("button", { name: `Resume ${key}` }).waitFor();
    expect(await field(at, "isPaused")).toBe(true);
    await page.getByRole("button", { name: `Resume ${key}` }).click();
    await page.getByRole("button", { name: `Pause ${key}` }).waitFor();
    await page.getByRole("button", { name: `Pin ${key}` }).click();
    await page.getByLabel("Parallelism").fill("7");
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
  const signIn = async (password: string, user: string = operatorUser) => {
    const opened = await pages.open(at());
    await opened.page.getByLabel("User").fill(user);
    await opened.page.getByLabel("Password").fill(password);
    await opened.page.getByRole("button", { name: "Sign in" }).click();
    return opened;
  };

  journey(
    "opens by the password alone, and keeps no password within reach of a script",
    async () => {
      const { page, allowed } = await signIn("a-wrong-password");

      await page.getByRole("alert").getByText("user and password are missing or wrong").waitFor();
      expect(await page.evaluate("sessionStorage.length + localStorage.length")).toBe(0);
      allowed.push(/401/);
    },
  );

  journey("shows a viewer the tenants and the audit log, and no control that writes", async () => {
    const { page, look } = await signIn(otherPasswords.auditor, "auditor");
    const names: string[] = [];
    const collect = async (title: string) => {
      await page.getByRole("heading", { level: 1, name: title }).waitFor();
      await settled(page);
      await look();
      for (const control of await page.getByRole("button").all())
        names.push((await control.getAttribute("aria-label")) ?? (await control.innerText()));
    };

    await collect("Tenants");
    await goTo(page, `/tenants/${firstUser.userId}`);
    await collect(`Tenant ${firstUser.userId}`);
    await goTo(page, "/audit");
    await collect("Audit log");

    expect(
      names.filter((name) => !/^(Copy.*|Find by.*|Next page|Operator: viewer.*)$/s.test(name)),
    ).toEqual([]);
    await isThere(page, "may only read");
  });

  journey(
    "makes a tenant and its tokens, changes its plan, revokes a token and closes the tenant",
    async () => {
      const operator = new Operator(pages.server);
      const opened = await signIn(operatorPassword);
      const { page } = opened;

      await page.getByRole("heading", { level: 1, name: "Tenants" }).waitFor();
      await opened.look();
      await page.getByLabel("Id", { exact: true }).fill("acme");
      await page.getByRole("button", { name: "Create tenant" }).click();
      await page.getByRole("heading", { level: 1, name: "Tenant acme" }).waitFor();
      await page.getByLabel("Scope").selectOption({ label: "read only" });
      await page.getByRole("button", { name: "Create token" }).click();
      await page.getByText("Copy the token now").waitFor();
      const token = (await page.locator(".secret").textContent()) ?? "";
      await opened.look();
      await page.getByLabel("Default retries").fill("5");
      await page.getByRole("button", { name: "Save plan" }).click();
      await eventually(
        async () => (await operator.get("/v2/tenants/acme")).text,
        (text) => text.includes('"retriesDefault":5'),
      );

      const caller = new Client(pages.server.port, token);
      await untilStatus(caller, 200);
      await page.getByRole("button", { name: /^Revoke/ }).click();
      await page.getByRole("button", { name: /^Yes, revoke/ }).click();
      await untilStatus(caller, 401);
      await goTo(page, "/audit");
      await page.getByText("revokeToken").first().waitFor();
      await opened.look();
      await goTo(page, "/tenants/acme");
      await page.getByRole("button", { name: "Close tenant acme" }).click();
      await page.getByRole("button", { name: /^Yes, close/ }).click();
      await page.getByRole("heading", { level: 1, name: "Tenants" }).waitFor();

      expect((await operator.get("/v2/tenants/acme")).status).toBe(404);
      expect(await page.evaluate("sessionStorage.length + localStorage.length")).toBe(0);
      await goTo(page, "/nowhere");
      await page.getByRole("heading", { level: 1, name: "Page not found" }).waitFor();
      await page.reload();
      await isIn(page);
      await signOut(page);
      expect(await page.context().cookies()).toEqual([]);
    },
  );

  journey("is served compressed and under the same policy as a tenant's", async () => {
    const reply = await fetch(at());

    expect(reply.headers.get("content-security-policy")).toMatch(/^default-src 'none'/);
    expect(reply.headers.get("content-encoding")).toBe("gzip");
    expect(await reply.text()).toContain("operator");
  });
});
