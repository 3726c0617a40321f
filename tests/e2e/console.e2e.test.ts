/** The console in a real browser: how it is served, signing in, and by keyboard alone. */
import { describe, expect } from "@jest/globals";
import { consolePages, goTo, isThere, journey, signIn, visit } from "./console-pages.ts";
import { readOnlyToken } from "./users.ts";
import { Proxy } from "./proxy.ts";
import { developmentToken } from "./server-process.ts";

const firstLoadBytesMax = 150_000;
const pages = consolePages();

describe("the console is served", () => {
  journey("with a policy that lets in nothing but its own files", async () => {
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

  journey("in no more than 150 kB on the wire for its first page", async () => {
    const opened = await pages.open();
    const sizes: number[] = [];
    opened.page.on("response", (response) => {
      const { "content-length": length, "content-encoding": coding } = response.headers();
      if (!response.url().includes("/console/")) return;
      expect(coding).toBe("gzip");
      sizes.push(Number(length));
    });
    await opened.page.reload();
    await signIn(opened.page, developmentToken);
    await isThere(opened.page, "Overview");

    expect(sizes.length).toBeGreaterThanOrEqual(3);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(firstLoadBytesMax);
  });

  journey(
    "below any path of a proxy, where every page of it works and no other host is there",
    async () => {
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
        ];
        for (const title of titles) {
          await opened.page.getByRole("link", { name: title, exact: true }).click();
          await opened.page.getByRole("heading", { level: 1, name: title }).waitFor();
          await opened.page.getByRole("table").waitFor();
          await opened.look();
          expect(await opened.page.title()).toBe(`${title} · Posthaste`);
        }
      } finally {
        await proxy.stop();
      }
    },
  );
});

describe("signing in", () => {
  journey(
    "says in the server's words why a token is not taken, keeps none, and takes the next",
    async () => {
      const opened = await pages.open();
      const { page, troubles } = opened;
      const stored = () =>
        page.evaluate("sessionStorage.length + localStorage.length + document.cookie.length");

      await page.getByLabel("Token").fill("unknown");
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("alert").getByText("no or unknown token").waitFor();
      await page.getByLabel("Token").fill("unknown");
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("alert").getByText("no or unknown token").waitFor();
      const whileRefused = await stored();
      await signIn(page, developmentToken);

      expect(whileRefused).toBe(0);
      expect(await page.evaluate("localStorage.length + document.cookie.length")).toBe(0);
      // The browser itself notes each of the two refusals.
      expect(troubles.splice(0).filter((text) => !text.includes("401"))).toEqual([]);
    },
  );

  journey("outlives a server that is away, or a proxy that answers in its place", async () => {
    const opened = await pages.signedIn();
    const { page, troubles } = opened;
    const html = { status: 502, contentType: "text/html", body: "<h1>Bad gateway</h1>" };

    await page.route("**/v2/me", (route) => route.fulfill(html));
    await page.reload();
    await isThere(
      page,
      "Something between this page and Posthaste has answered: status 502, text/html.",
    );
    await opened.look();
    await page.unroute("**/v2/me");
    await page.getByRole("navigation", { name: "Pages", exact: true }).waitFor();

    expect(troubles.splice(0).filter((text) => !text.includes("502"))).toEqual([]);
  });

  journey("with a token that may only read shows no control that writes, on no page", async () => {
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
      "/groups": /Groups/,
      [`/groups/${label}`]: /Group /,
      "/flow-keys": /Flow keys/,
    };
    const names = new Set<string>();
    for (const [hash, title] of Object.entries(titles)) {
      await goTo(opened.page, hash);
      await opened.page.getByRole("heading", { level: 1, name: title }).waitFor();
      await opened.page.getByText("loading").waitFor({ state: "detached" });
      await opened.look();
      for (const name of await opened.page.getByRole("button").allTextContents()) names.add(name);
    }

    const harmless = ["Go", "Filter", "More filters", "Sign out", "Formatted", "As it was sent"];
    expect([...names].filter((name) => !harmless.includes(name))).toEqual([]);
    await isThere(opened.page, "may only read");
  });
});

describe("by keyboard alone", () => {
  journey(
    "a message is found, its page read from its heading, and the message cancelled",
    async () => {
      const target = pages.destination.url("/never");
      const id = await pages.server.client.published(target, { "service-delay": "1h" });
      const { page } = await pages.open();
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
      await page.keyboard.type(id);
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { level: 1, name: `Message ${id}` }).waitFor();
      const heading = await focused();
      await page.getByRole("button", { name: `Cancel ${id}` }).waitFor();
      await page.keyboard.press("Tab");
      const button = await focused();
      await page.keyboard.press("Enter");
      const sure = await focused();
      await page.keyboard.press("Enter");
      await isThere(page, /^cancelled$/);

      expect([first, skippedTo, heading]).toEqual(["Skip to the page", "main", `Message ${id}`]);
      expect([button, sure]).toEqual([`Cancel ${id}`, `Yes, cancel ${id}`]);
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
