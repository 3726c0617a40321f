/** Tests dead letters in the console, and texts of others, which are shown as text. */
import { describe, expect } from "@jest/globals";
import { eventually, hasLength } from "./client.ts";
import { consolePages, journey } from "./console-pages.ts";
import { goTo, isThere, visit } from "./console-site.ts";

const pages = consolePages();

const hostile = `<img src=x onerror="alert(1)"><script>alert(2)</script>\u0000\u202e${"x".repeat(30_000)}`;

const letterId = async (label: string): Promise<string> =>
  String((await pages.letters(label))[0]?.["dlqId"]);

describe("dead letters", () => {
  journey(
    "are retried and removed one by one, each by its own button, and removing asks first",
    async () => {
      await pages.failed("one-by-one", 2);
      const letters = await pages.letters("one-by-one");
      const [retried = "", removed = ""] = letters.map(({ dlqId }) => String(dlqId));
      pages.works("/one-by-one");
      const { page } = await pages.signedIn("#/dead-letters?label=one-by-one");

      await page.getByRole("button", { name: `Retry ${retried}` }).click();
      await eventually(() => pages.letters("one-by-one"), hasLength(1));
      await page.getByRole("button", { name: `Remove ${removed}` }).click();
      await page.getByRole("button", { name: "Keep" }).click();
      const kept = await pages.letters("one-by-one");
      // The dialog's own button may be there still, as it fades.
      await page.getByRole("button", { name: `Remove ${removed}`, exact: true }).click();
      await page.getByRole("button", { name: `Yes, remove ${removed}` }).click();
      await eventually(() => pages.letters("one-by-one"), hasLength(0));
      await page.mouse.move(0, 0);
      await isThere(page, "No dead letter matches");

      expect(kept).toHaveLength(1);
      expect(pages.destination.at("/one-by-one").length).toBe(3);
    },
  );

  journey(
    "of a filter are found, all 205, and retried in calls of a hundred, and no others",
    async () => {
      await pages.failed("many", 205);
      pages.works("/many");
      const opened = await pages.signedIn("#/dead-letters?label=many");
      const { page, look } = opened;
      const counts: number[] = [];
      page.on("request", (request) => {
        if (!new URL(request.url()).pathname.endsWith("/dlq/retry")) return;
        const { dlqIds } = Object(request.postDataJSON()) as { readonly dlqIds: readonly string[] };
        counts.push(dlqIds.length);
      });

      await page.getByRole("button", { name: "Retry all of these" }).click();
      await isThere(page, "205 dead letters would be retried");
      await isThere(page, /205 ×.*: status 500/);
      const before = await pages.letters("many");
      await look();
      await page.getByRole("button", { name: "Retry 205" }).click();
      await isThere(page, "205 of 205 retried");

      expect(before).toHaveLength(100);
      expect(counts).toEqual([100, 100, 5]);
      expect(await pages.letters("many")).toEqual([]);
      await pages.destination.arrivals("/many", 410);
    },
  );

  journey(
    "that could not all be retried: the page says how many were, and counts the rest anew",
    async () => {
      await pages.failed("half", 105);
      pages.works("/half");
      const { page, allowed } = await pages.signedIn("#/dead-letters?label=half");
      let calls = 0;
      await page.route(
        (url) => url.pathname.endsWith("/dlq/retry"),
        (route) =>
          (calls += 1) === 2 ? route.fulfill({ status: 502, body: "<html>" }) : route.continue(),
      );

      await page.getByRole("button", { name: "Retry all of these" }).click();
      await page.getByRole("button", { name: "Retry 105" }).click();
      await isThere(page, "100 of 105 retried");
      await page.getByRole("alert").getByText("A proxy between this page and Posthaste").waitFor();
      await page.getByRole("button", { name: "Retry all of these" }).click();
      await isThere(page, "5 dead letters would be retried");
      await page.getByRole("button", { name: "Not now" }).click();

      expect(await pages.letters("half")).toHaveLength(5);
      allowed.push(/502/);
    },
  );

  journey("stay unchanged when the page is left between two calls", async () => {
    await pages.failed("left", 105);
    pages.works("/left");
    const opened = await pages.signedIn("#/dead-letters?label=left");
    const { page } = opened;
    const left = Promise.withResolvers<void>();
    let calls = 0;
    await page.route(
      (url) => url.pathname.endsWith("/dlq/retry"),
      async (route) => {
        calls += 1;
        if (calls > 1) return route.continue();
        const answer = await route.fetch();
        await goTo(page, "/queues");
        await page.getByRole("heading", { level: 1, name: "Queues" }).waitFor();
        await route.fulfill({ response: answer }).catch(() => undefined);
        left.resolve();
      },
    );

    await page.getByRole("button", { name: "Retry all of these" }).click();
    await page.getByRole("button", { name: "Retry 105" }).click();
    await left.promise;
    await visit(opened, "/queues", "Queues");
    await visit(opened, "/dead-letters?label=left", "Dead letters");
    await page.getByRole("button", { name: "Retry all of these" }).click();
    await isThere(page, "5 dead letters would be retried");

    expect(calls).toBe(1);
  });

  journey("of a filter are all removed after a confirmation", async () => {
    await pages.failed("away", 3);
    const { page } = await pages.signedIn("#/dead-letters?label=away");

    await page.getByRole("button", { name: "Remove all of these" }).click();
    await page.getByRole("button", { name: "Remove 3" }).click();
    await isThere(page, "3 of 3 removed");

    expect(await pages.letters("away")).toEqual([]);
  });
});

describe("text from a caller or a receiver", () => {
  journey("is shown as text in every list and on every page", async () => {
    const label = "hostile";
    const headers = { "service-forward-x-hostile": "<img src=x onerror=alert(1)>" };
    const path = `/${label}`;
    const [id = ""] = await pages.failed(label, 1, headers, hostile);
    const url = `${pages.destination.url(path)}?<script>alert(3)</script>`;
    await pages.server.client.published(
      url,
      { "service-label": label, "service-retries": "0" },
      hostile,
    );
    const opened = await pages.signedIn();
    const { page } = opened;

    const inert = async (): Promise<string> => {
      expect(await page.locator("img, main script").count()).toBe(0);
      return (await page.locator("main").textContent()) ?? "";
    };
    await visit(opened, "/messages?label=hostile", "Messages");
    await inert();
    await visit(opened, `/messages/${id}`, `Message ${id}`);
    await isThere(page, "alert(2)");
    expect(await inert()).toContain("<script>alert(2)</script>\\u0000\\u202ex");
    await visit(opened, "/dead-letters?label=hostile", "Dead letters");
    expect(await inert()).toContain('<img src=x onerror="alert(1)">');
    const letter = await letterId(label);
    await visit(opened, `/dead-letters/${letter}`, `Dead letter ${letter}`);
    expect(await inert()).toContain("\\u0000\\u202ex");
  });

  journey("is on no page of a message or its letter where it is redacted", async () => {
    const secret = "canary-31337";
    const headers = {
      "service-redact-fields": "body, header[x-secret]",
      "service-forward-x-secret": secret,
    };
    const [id = ""] = await pages.failed("redacted", 1, headers, `the body has ${secret}`);
    const letter = await letterId("redacted");
    const opened = await pages.signedIn();

    for (const [hash, title] of [
      ["/messages?label=redacted", "Messages"],
      [`/messages/${id}`, `Message ${id}`],
      ["/dead-letters?label=redacted", "Dead letters"],
      [`/dead-letters/${letter}`, `Dead letter ${letter}`],
    ] as const) {
      await visit(opened, hash, title);
      await isThere(opened.page, hash.includes("?") ? "redacted" : "REDACTED:");
      expect(await opened.page.content()).not.toContain(secret);
    }
  });
});
