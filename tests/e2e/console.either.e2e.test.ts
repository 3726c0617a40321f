/** Tests the console in a real browser: how it is served, signing in, and the keyboard. */
import { afterAll, describe, expect } from "@jest/globals";
import { Client, eventually, equals } from "./client.ts";
import { consolePages, journey } from "./console-pages.ts";
import { goTo, isIn, isThere, settled, signIn, signOut, visit } from "./console-site.ts";
import { failing } from "./destination.ts";
import { IdentityProvider } from "./identity-provider.ts";
import { firstUser, readOnlyToken } from "./users.ts";
import { Proxy } from "./proxy.ts";
import { developmentToken } from "./server-process.ts";

const firstLoadBytesMax = 200 * 1_024;

const pages = consolePages(async () => {
  proxy = await Proxy.start("/", () => pages.server.port);
  provider = await IdentityProvider.start([`${proxy.url}console/sign-in/back`]);
  const groups = `lookers=${firstUser.userId}:read`;
  const console = { POSTHASTE_CONSOLE_URL: `${proxy.url}console/`, POSTHASTE_OIDC_TENANTS: groups };
  return { ...provider.env, ...console };
});

/** A proxy before the server, whose address is known before the server starts. */
let proxy: Proxy | undefined;

let provider: IdentityProvider | undefined;

afterAll(async () => {
  await provider?.stop();
  await proxy?.stop();
});

const writing = /^(Publish|Send again|Edit|New|Change)/;

describe("the console is served", () => {
  journey("under a policy that allows nothing but its own files", async () => {
    const reply = await fetch(`${pages.origin}/console/`);
    const moved = await fetch(`${pages.origin}/console?x=1`, { redirect: "manual" });

    expect(reply.headers.get("content-security-policy")).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(reply.headers.get("x-content-type-options")).toBe("nosniff");
    expect([moved.status, moved.headers.get("location")]).toEqual([308, "console/"]);
    for (const path of ["assets/none.js", "..%2f..%2fpackage.json", "operator.html", "x"])
      expect((await fetch(`${pages.origin}/console/${path}`)).status).toBe(404);
  });

  journey("in no more than 200 KiB on the wire for its first page", async () => {
    const opened = await pages.open();
    const sizes: number[] = [];
    opened.page.on("response", (response) => {
      const { "content-length": length, "content-encoding": coding } = response.headers();
      if (!/\/console\/(?!session)/.test(response.url())) return;
      expect(coding).toBe("gzip");
      sizes.push(Number(length));
    });
    await opened.page.reload();
    await signIn(opened.page, developmentToken);
    await opened.page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();

    expect(sizes.length).toBeGreaterThanOrEqual(3);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(firstLoadBytesMax);
  });

  journey("below any path of a proxy, where every page works and asks no other host", async () => {
    const proxy = await Proxy.start("/tools/", pages.server.port);
    try {
      const at = `${proxy.url}console/`;
      const opened = await pages.signedIn("", { at });
      const titles = [
        "Messages",
        "Dead letters",
        "Runs",
        "Schedules",
        "Queues",
        "Groups",
        "Flow keys",
        "Limits",
        "Audit log",
      ];
      for (const title of titles) {
        await opened.page.getByRole("link", { name: title, exact: true }).click();
        await opened.page.getByRole("heading", { level: 1, name: title }).waitFor();
        await settled(opened.page);
        await opened.look();
        expect(await opened.page.title()).toBe(`${title} · Posthaste`);
      }
      await opened.page.close();
    } finally {
      await proxy.stop();
    }
  });
});

describe("signing in", () => {
  journey(
    "shows the server's reason for refusing a token, keeps none, and accepts the next token",
    async () => {
      const opened = await pages.open();
      const { page, allowed } = opened;
      const stored = () =>
        page.evaluate("sessionStorage.length + localStorage.length + document.cookie.length");

      for (const token of ["unknown", "unknown", "copied in part…"]) {
        await page.getByLabel("Token").fill(token);
        await page.getByRole("button", { name: "Sign in" }).click();
        await page.getByRole("alert").getByText("the token is missing or unknown").waitFor();
      }
      const whileRefused = await stored();
      await signIn(page, developmentToken);

      expect([whileRefused, await stored()]).toEqual([0, 0]);
      // The browser itself reports each refusal.
      allowed.push(/401/);
    },
  );

  journey(
    "is done once for all tabs, and signing out ends the session for all of them",
    async () => {
      const opened = await pages.signedIn();
      const { page, allowed } = opened;
      const context = page.context();
      const tab = await pages.tabBeside(opened, `${pages.origin}/console/#/queues`);
      const asked = page.waitForRequest("**/v2/me");
      await page.reload();
      const { cookie = "", "posthaste-session": session = "" } = await (await asked).allHeaders();
      await isIn(page);
      const [kept] = await context.cookies();

      await signOut(page);
      await tab.getByRole("link", { name: "Limits", exact: true }).click();
      await tab.getByRole("dialog", { name: "Sign in again" }).waitFor();
      const left = await context.cookies();
      await signIn(page, developmentToken);
      // A browser focuses the visible tab.
      await tab.bringToFront();
      await tab.evaluate("window.dispatchEvent(new Event('focus'))");
      await tab.getByRole("dialog", { name: "Sign in again" }).waitFor({ state: "detached" });

      expect(kept).toMatchObject({ httpOnly: true, sameSite: "Strict", path: "/" });
      expect(left).toEqual([]);
      const stolen = { cookie, "posthaste-session": session };
      expect((await new Client(pages.server.port, null).get("/v2/me", stolen)).status).toBe(401);
      allowed.push(/401/);
    },
  );

  journey("by a provider leads back to the console, or shows why it failed", async () => {
    const opened = await pages.open(`${proxy?.url}console/`);
    const { page, troubles } = opened;
    await page.context().unrouteAll();
    const go = () => page.getByRole("link", { name: /^Sign in with 127\.0\.0\.1/ }).click();

    provider?.is({ groups: ["strangers"] });
    await go();
    await page.getByRole("alert").getByText("None of your groups may sign in here.").waitFor();
    await opened.look();
    await page.context().clearCookies();
    provider?.is({ groups: ["lookers"] });
    await go();
    await isIn(page);
    await isThere(page, "may only read");
    expect(new URL(page.url()).pathname).toBe("/console/");
    await signOut(page);
    await page.close();

    expect(troubles.splice(0)).toEqual([]);
  });

  journey("outlives a server that is away, and a proxy that answers in its place", async () => {
    const opened = await pages.signedIn();
    const { page, allowed } = opened;
    const html = { status: 502, contentType: "text/html", body: "<h1>Bad gateway</h1>" };

    await page.route("**/v2/me", (route) => route.fulfill(html));
    await page.reload();
    await isThere(
      page,
      "A proxy between this page and Posthaste answered with status 502 (text/html).",
    );
    await opened.look();
    await page.unroute("**/v2/me");
    await page.getByRole("navigation", { name: "Pages", exact: true }).waitFor();

    allowed.push(/502/);
  });

  journey("with a token that may only read shows no control that writes, on any page", async () => {
    const { client } = pages.server;
    const label = "looked-at";
    const flow = { "service-flow-control-key": label, "service-flow-control-value": "rate=1" };
    const [messageId = ""] = await pages.failed(label, 1, flow);
    const [letter] = await pages.letters(label);
    await client.post("/v2/queues", {}, '{"queueName":"looked-at"}');
    const target = pages.destination.url("/never");
    const scheduled = { "service-cron": "0 0 1 1 *", "service-schedule-id": label };
    await client.post(`/v2/schedules/${target}`, scheduled);
    const endpoints = JSON.stringify({ endpoints: [{ url: target }] });
    await client.post(`/v2/topics/${label}/endpoints`, {}, endpoints);
    const waiting = await client.published(target, { "service-delay": "1h" });
    const opened = await pages.signedIn("", { token: readOnlyToken });

    const titles: Readonly<Record<string, RegExp>> = {
      "/": /Overview/,
      "/messages": /Messages/,
      [`/messages/${messageId}`]: /Message /,
      [`/messages/${waiting}`]: /Message /,
      "/dead-letters": /Dead letters/,
      [`/dead-letters/${String(letter?.["dlqId"])}`]: /Dead letter /,
      "/runs": /Runs/,
      "/schedules": /Schedules/,
      [`/schedules/${label}`]: /Schedule /,
      "/queues": /Queues/,
      "/queues/looked-at": /Queue /,
      "/limits": /Limits/,
      "/publish": /Publish/,
      "/schedule": /Schedule/,
      "/groups": /Groups/,
      [`/groups/${label}`]: /Group /,
      "/flow-keys": /Flow keys/,
    };
    const names = new Set<string>();
    for (const [hash, title] of Object.entries(titles)) {
      await goTo(opened.page, hash);
      await opened.page.getByRole("heading", { level: 1, name: title }).waitFor();
      await settled(opened.page);
      await opened.look();
      for (const control of await opened.page.getByRole("button").all())
        names.add((await control.getAttribute("aria-label")) ?? (await control.innerText()));
      expect(await opened.page.getByRole("link", { name: writing }).count()).toBe(0);
    }

    const harmless =
      /^(Filter|Since|More filters|Formatted|As it was sent|Copy.*|Find by.*|Tenant .*)$/s;
    expect([...names].filter((name) => !harmless.test(name))).toEqual([]);
    await isThere(opened.page, "may only read");
  });
});

describe("a server that is away", () => {
  journey("is announced once, above the page as it was, until the server is back", async () => {
    await pages.failed("kept", 1);
    const { page, allowed } = await pages.signedIn();
    const html = { status: 502, contentType: "text/html", body: "<h1>Bad gateway</h1>" };
    const letters = page.getByRole("region", {
      name: "Dead letters by destination and reason",
      exact: true,
    });
    const row = letters.getByRole("row").filter({ hasText: "/kept" });

    await row.waitFor();
    await page.route("**/v2/**", (route) => route.fulfill(html));
    const said = page.getByText("Retrying…");
    await said.waitFor();
    const shown = [await said.count(), await page.getByRole("alert").count(), await row.count()];
    await page.unroute("**/v2/**");
    await said.waitFor({ state: "detached" });

    expect(shown).toEqual([1, 0, 1]);
    allowed.push(/502/);
  });
});

describe("with the keyboard alone", () => {
  journey(
    "a message is found, its page read from its heading, and the message cancelled",
    async () => {
      const target = pages.destination.url("/never");
      const id = await pages.server.client.published(target, { "service-delay": "1h" });
      const { allowed, page } = await pages.open();
      // If typing takes long, the palette searches for the beginning of the id, too.
      allowed.push(/404/);
      const focused = () =>
        page.evaluate(
          `(document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent)`,
        );

      await page.getByLabel("Token").waitFor();
      await page.keyboard.type(developmentToken);
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
      await page.keyboard.press("Tab");
      const first = await focused();
      await page.keyboard.press("Enter");
      const skippedTo = await page.evaluate("document.activeElement.id");
      await page.keyboard.press("/");
      await page.getByRole("combobox", { name: "Go to anything" }).waitFor();
      await page.keyboard.type(id);
      await page.getByRole("option", { name: id }).waitFor();
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { level: 1, name: `Message ${id}` }).waitFor();
      await page.getByRole("button", { name: `Cancel ${id}` }).waitFor();
      await eventually(focused, (name) => name === `Message ${id}`);
      const stops: unknown[] = [];
      for (let nth = 0; nth < 3; nth += 1) {
        await page.keyboard.press("Tab");
        stops.push(await focused());
      }
      await page.keyboard.press("Enter");
      await page.getByRole("alertdialog").waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("alertdialog").waitFor({ state: "detached" });
      await eventually(focused, (name) => name === `Cancel ${id}`);
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: `Yes, cancel ${id}` }).focus();
      await page.keyboard.press("Enter");
      await isThere(page, /^cancelled$/);

      expect([first, skippedTo]).toEqual(["Skip to content", "main"]);
      expect(stops).toEqual(["Copy the id", "Send again…", `Cancel ${id}`]);
      expect((await pages.server.client.delete(`/v2/messages/${id}`)).status).toBe(404);
    },
  );

  journey("in the dark as in the light", async () => {
    const opened = await pages.signedIn("", { colorScheme: "dark" });
    await pages.failed("in-the-dark", 1);

    await visit(opened, "/dead-letters?label=in-the-dark", "Dead letters");
    await visit(opened, "/messages", "Messages");
  });
});

describe("news", () => {
  journey("appears in three tabs, which share one open request", async () => {
    const proxy = await Proxy.start("/", pages.server.port);
    try {
      const at = `${proxy.url}console/#/messages?label=seen-by-all`;
      const first = await pages.signedIn("#/messages?label=seen-by-all", {
        at: `${proxy.url}console/`,
      });
      const tabs = [first.page, await pages.tabBeside(first, at), await pages.tabBeside(first, at)];
      for (const nth of [1, 2, 3]) {
        const target = pages.destination.url(`/seen-${nth}`);
        const id = await pages.server.client.published(target, { "service-label": "seen-by-all" });
        for (const tab of tabs) {
          await tab
            .getByRole("row")
            .filter({ hasText: id })
            .filter({ hasText: "delivered" })
            .waitFor();
        }
      }

      expect(proxy.waitingAtOnceMax).toBe(1);
    } finally {
      await proxy.stop();
    }
  });

  journey("of one message appears on its page as it happens", async () => {
    pages.destination.answers("/followed", failing(1));
    const headers = { "service-retries": "1", "service-retry-delay": "3000" };
    const id = await pages.server.client.published(pages.destination.url("/followed"), headers);
    const opened = await pages.signedIn();

    await visit(opened, `/messages/${id}`, `Message ${id}`);
    await isThere(opened.page, /^Attempt 1$/);
    await isThere(opened.page, /^Attempt 2$/);
    await isThere(opened.page, /^delivered$/);
  });

  journey("moves no row under the pointer: new rows wait until the pointer rests", async () => {
    const label = "under-the-pointer";
    const publish = () =>
      pages.server.client.published(pages.destination.url("/pointed"), { "service-label": label });
    const before = await publish();
    const { page } = await pages.signedIn(`#/messages?label=${label}&state=DELIVERED`);
    await page.getByRole("row").filter({ hasText: before }).hover();
    const box = await page.getByRole("table").boundingBox();
    const after = await publish();
    let moves = 0;
    await eventually(async () => {
      await page.mouse.move((box?.x ?? 0) + 20 + (moves++ % 2), (box?.y ?? 0) + 60);
      return page.getByText("1 new, shown when the pointer stops").count();
    }, equals(1));

    expect(await page.getByText(after).count()).toBe(0);
    await page.getByText(after).waitFor();
  });
});
