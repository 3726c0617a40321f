/** Tests messages and dead letters in the console: a failed message is found, corrected, and tried again. */
import { describe, expect } from "@jest/globals";
import { type Route } from "playwright-core";
import { eventually } from "./client.ts";
import { consolePages, journey } from "./console-pages.ts";
import { find, goTo, isThere, visit } from "./console-site.ts";
import { failing } from "./destination.ts";

const pages = consolePages();
const hostile = `<img src=x onerror="alert(1)"><script>alert(2)</script>\u0000\u202e${"x".repeat(30_000)}`;
const letterId = async (label: string): Promise<string> =>
  String((await pages.letters(label))[0]?.["dlqId"]);

describe("a message", () => {
  journey(
    "to a failing receiver is found, the receiver repaired, and the message retried",
    async () => {
      const answer = '{"error":"the mail server is down"}';
      await pages.failed("welcome-mail", 1, {}, '{"to":"ada@example.com"}', answer);
      pages.destination.answers("/welcome-mail", (_, response) =>
        response.writeHead(503).end(answer),
      );
      const opened = await pages.signedIn();
      const { page } = opened;

      // The list shows the failure, and its page the reason.
      await visit(opened, "/messages?state=FAILED&label=welcome-mail", "Messages");
      await page.getByRole("row").filter({ hasText: "msg_" }).getByRole("link").click();
      await page.getByRole("heading", { level: 1, name: /Message msg_/ }).waitFor();
      await isThere(page, "Failed after 1 attempt: status 500");
      await isThere(page, "ada@example.com");
      await page.getByRole("link", { name: await letterId("welcome-mail") }).click();
      await page.getByRole("heading", { level: 1, name: /Dead letter/ }).waitFor();
      await isThere(page, "Failed: status 500");
      await opened.look();

      // The receiver still fails, so the message is a dead letter again, with the new answer. The page leads to that
      // letter even if the live stream reported that the dead letter is gone before the retry was answered.
      const answerLate = async (route: Route): Promise<void> => {
        const response = await route.fetch();
        await page.getByText("This dead letter no longer exists").waitFor();
        await route.fulfill({ response });
      };
      await page.route("**/dlq/retry/**", answerLate, { times: 1 });
      await page.getByRole("button", { name: /^Retry/ }).click();
      await page.getByRole("heading", { level: 1, name: /Message msg_/ }).waitFor();
      await isThere(page, "Failed after 1 attempt: status 503");
      await isThere(page, /^Dead letter: /);

      // The corrected message arrives.
      pages.works("/welcome-mail");
      await page.getByRole("button", { name: /^Retry/ }).click();
      await visit(opened, "/messages?label=welcome-mail&state=DELIVERED", "Messages");
      await page.getByRole("row").filter({ hasText: "msg_" }).waitFor();
      expect(await pages.letters("welcome-mail")).toEqual([]);
    },
  );

  journey(
    "that failed is sent again with another body, and the old and the new message link to each other",
    async () => {
      const redacted = {
        "service-redact-fields": "header[x-secret]",
        "service-forward-x-secret": "canary-31337",
        "content-type": "application/json",
      };
      const [failed = ""] = await pages.failed("edited", 1, redacted, '{"order":"17"}', "no");
      const letter = await letterId("edited");
      pages.works("/edited");
      const opened = await pages.signedIn(`#/dead-letters/${letter}`);
      const { page, look } = opened;

      await page.getByRole("link", { name: "Edit and send…" }).click();
      await isThere(page, "are sent unchanged unless you fill them in: header x-secret");
      await page.getByLabel("Body", { exact: true }).fill('{"order":17}');
      await page.getByText(`dlq/retry/${letter}?replaceBody=true`).waitFor();
      await look();
      await page.getByRole("button", { name: "Publish message" }).click();
      await page.getByRole("heading", { level: 1, name: /Message msg_/ }).waitFor();
      await isThere(page, /^delivered$/);
      const [, arrived] = await pages.destination.arrivals("/edited", 2);
      expect(arrived?.body.toString()).toBe('{"order":17}');
      expect(arrived?.headers["x-secret"]).toBe("canary-31337");
      expect(await pages.letters("edited")).toEqual([]);

      const made = page.url().split("/").at(-1) ?? "";
      await page.getByRole("link", { name: failed }).click();
      await page.getByRole("heading", { level: 1, name: `Message ${failed}` }).waitFor();
      await isThere(page, "Retried as");
      await page.getByRole("link", { name: made }).waitFor();
      await find(page, letter, letter);
      await isThere(page, "This dead letter no longer exists.");
      await page.getByRole("link", { name: failed }).waitFor();
      await page.getByRole("link", { name: made }).click();
      await page.getByRole("heading", { level: 1, name: `Message ${made}` }).waitFor();
      // The browser itself reports that the letter is not an id of another kind.
      opened.allowed.push(/40[04]/);
    },
  );

  journey("shows that it was not retried when its dead letter was removed", async () => {
    const [failed = ""] = await pages.failed("gone", 1);
    await pages.server.client.delete(`/v2/dlq/${await letterId("gone")}`);
    const { page } = await pages.signedIn(`#/messages/${failed}`);

    await isThere(page, "Its dead letter was removed, has expired, or was sent again");
  });

  journey("is found by filters in words, which the address keeps", async () => {
    const [id = ""] = await pages.failed("by-filter", 1);
    const opened = await pages.signedIn();
    const { page } = opened;

    await visit(opened, "/messages", "Messages");
    const row = page.getByRole("row").filter({ hasText: id });
    await page.getByLabel("Label").fill("by-filter");
    await page.getByLabel("From").fill("2026-01-01T00:00");
    await page.getByRole("button", { name: "Filter", exact: true }).click();
    await page.waitForURL(/label=by-filter&fromDate=2026-01-01T00%3A00/);
    await row.waitFor();
    await page.getByRole("navigation", { name: "Messages by state" }).getByText("Failed").click();
    await page.waitForURL(/state=FAILED/);
    await page.getByRole("button", { name: "More filters" }).click();
    await page.getByLabel("Message id").fill(id);
    await page.getByRole("button", { name: "Filter", exact: true }).click();
    await page.waitForURL(new RegExp(`messageId=${id}`));

    await page.reload();
    await page.getByRole("navigation", { name: "Pages", exact: true }).waitFor();
    expect(await page.getByLabel("Label").inputValue()).toBe("by-filter");
    await row.waitFor();
    await page.getByRole("button", { name: "Clear" }).click();
    await page.waitForURL(/#\/messages$/);
    await visit(opened, "/messages?label=none-has-it", "Messages");
    await isThere(page, "No message matches");
  });

  journey("stands on exactly one page of a list of several", async () => {
    const headers = { "service-label": "paged" };
    const url = pages.destination.url("/paged");
    const made = await Promise.all(
      Array.from({ length: 105 }, () => pages.server.client.published(url, headers)),
    );
    await eventually(
      () => pages.server.client.get("/v2/events?label=paged&state=DELIVERED&count=200"),
      (reply) => reply.list("events").length === made.length,
    );
    const { page } = await pages.signedIn("#/messages?label=paged&state=DELIVERED");
    const idsShown = () => page.locator("tbody .id").allTextContents();

    const first = await eventually(idsShown, ({ length }) => length === 100);
    await page.getByRole("button", { name: "Next page" }).click();
    const second = await eventually(idsShown, ({ length }) => length === 5);

    expect([...first, ...second].toSorted()).toEqual(made.toSorted());
  });

  journey("far back in the log is searched for, page by page", async () => {
    const id = await pages.server.client.published(pages.destination.url("/far-back"), {
      "service-label": "far-back",
      "service-delay": "1h",
    });
    const { page } = await pages.signedIn();
    const asked: (string | null)[] = [];
    // Answers as a log of many thousand events would: none of the events looked at matches.
    await page.route("**/v2/events?*label=far-back*", (route) => {
      const url = new URL(route.request().url());
      asked.push(url.searchParams.get("cursor"));
      const nth = asked.length;
      if (nth <= 2) return route.fulfill({ json: { events: [], cursor: `cursor-${nth}` } });
      url.searchParams.delete("cursor");
      return route.continue({ url: url.href });
    });

    await goTo(page, "/messages?label=far-back");
    await page.getByRole("row").filter({ hasText: id }).waitFor();

    expect(asked.slice(0, 3)).toEqual([null, "cursor-1", "cursor-2"]);
  });

  journey(
    "is one row, which is a link over its whole width and opens in a new tab, too",
    async () => {
      pages.destination.answers("/one-row", (_, response, nth) =>
        response.writeHead(nth < 2 ? 500 : 200).end(nth < 2 ? "" : '{"order":17}'),
      );
      const headers = {
        "service-label": "one-row",
        "service-retries": "3",
        "service-retry-delay": "1",
      };
      const id = await pages.server.client.published(pages.destination.url("/one-row"), headers);
      const opened = await pages.signedIn();
      const { page } = opened;

      await visit(opened, "/messages?label=one-row", "Messages");
      const rows = page.getByRole("table").locator("tbody tr");
      const delivered = rows.filter({ hasText: "delivered" }).filter({ hasText: "3 of 4" });
      await delivered.filter({ hasText: "500" }).waitFor();
      const count = await rows.count();
      const box = await delivered.boundingBox();
      const edge = { x: (box?.width ?? 0) - 12, y: (box?.height ?? 0) / 2 };
      const [beside] = await Promise.all([
        page.context().waitForEvent("page"),
        delivered.click({ position: edge, modifiers: ["ControlOrMeta"] }),
      ]);
      await delivered.click({ position: edge });
      await page.getByRole("heading", { level: 1, name: `Message ${id}` }).waitFor();
      await isThere(page, "Attempt 3");
      await isThere(page, /^status 200$/);
      await isThere(page, /^answered \d+ bytes?$/);
      await isThere(page, '"order": 17');

      expect(count).toBe(1);
      expect(beside.url()).toContain(`#/messages/${id}`);
    },
  );

  journey(
    "with very many attempts shows its end and each attempt, and no button to cancel it",
    async () => {
      pages.destination.answers("/often", failing(60));
      const headers = { "service-retries": "120", "service-retry-delay": "1" };
      const id = await pages.server.client.published(pages.destination.url("/often"), headers);
      await pages.destination.arrivals("/often", 61, 90_000);
      await eventually(
        () => pages.server.client.get(`/v2/events?messageId=${id}&state=DELIVERED`),
        (reply) => reply.list("events").length === 1,
      );
      const { page } = await pages.signedIn(`#/messages/${id}`);

      await isThere(page, "Attempt 61");
      const attempts = page.getByRole("list", { name: "Attempts" }).getByRole("listitem");
      expect(await attempts.first().textContent()).toContain("delivered");
      expect(await attempts.count()).toBe(62);
      expect(await page.getByRole("button", { name: /Cancel/ }).count()).toBe(0);
    },
  );

  journey("that waits for its retry is delivered now when asked", async () => {
    pages.destination.answers("/now", failing(1));
    const headers = { "service-retries": "1", "service-retry-delay": "3600000" };
    const id = await pages.server.client.published(pages.destination.url("/now"), headers);
    const { page } = await pages.signedIn(`#/messages/${id}`);

    await page.getByRole("button", { name: `Deliver now ${id}` }).click();
    await pages.destination.arrivals("/now", 2);
    await isThere(page, "Attempt 2");
    await isThere(page, /^delivered$/);
  });

  journey(
    "shows the beginning of a long body, says that it is cut, and shows all of it on request",
    async () => {
      const body = `begin ${"x".repeat(40_000)} end-of-it`;
      const [id = ""] = await pages.failed("long", 1, {}, body);
      const { page } = await pages.signedIn(`#/messages/${id}`);

      const shown = page.getByRole("region", { name: "Body of the request, text" });
      await shown.waitFor();
      const before = await shown.textContent();
      await page
        .getByRole("region", { name: "Body of the request", exact: true })
        .getByText("Cut here.")
        .waitFor();
      await page
        .getByRole("region", { name: "Body of the request", exact: true })
        .getByRole("button", { name: "Show all" })
        .click();
      await shown.getByText("end-of-it").waitFor();

      expect(before).not.toContain("end-of-it");
    },
  );
});

describe("waiting messages", () => {
  journey("are counted by their filter, then cancelled, and no others", async () => {
    const { client } = pages.server;
    const url = pages.destination.url("/all-of-these");
    const waits = (label: string) =>
      client.published(url, { "service-label": label, "service-delay": "1h" });
    const meant = [await waits("cancelled-all"), await waits("cancelled-all")];
    const other = await waits("left-alone");
    const opened = await pages.signedIn("#/messages");
    const { page, look } = opened;
    const all = page.getByRole("button", { name: "Cancel all of these…" });
    const states = async () =>
      Promise.all(
        [...meant, other].map(async (id) => (await client.get(`/v2/messages/${id}`)).status),
      );

    await page.getByRole("row").filter({ hasText: other }).waitFor();
    expect(await all.count()).toBe(0);
    await page.getByLabel("Label").fill("cancelled-all");
    await page.getByRole("button", { name: "Filter", exact: true }).click();
    await all.click();
    await page.getByRole("alertdialog", { name: "Cancel 2 messages?" }).waitFor();
    await look();
    await page.getByRole("button", { name: "Keep" }).click();
    await page.getByRole("alertdialog").waitFor({ state: "detached" });
    expect(await states()).toEqual([200, 200, 200]);
    await all.click();
    await page.getByRole("button", { name: "Cancel 2 messages" }).click();
    await page.getByRole("heading", { level: 1, name: /Bulk action/ }).waitFor();
    await isThere(page, "2 of 2 cancelled");
    await isThere(page, /^finished$/);
    await look();
    await page.getByRole("link", { name: "messages with this filter" }).click();
    const rows = page.getByRole("table").locator("tbody tr");
    for (const id of meant)
      await rows.filter({ hasText: id }).filter({ hasText: "cancelled" }).waitFor();

    expect(await rows.count()).toBe(2);
    expect((await client.get(`/v2/messages/${other}`)).status).toBe(200);
    // A cancel takes no state. With a state chosen it would cancel more than the list shows.
    await visit(opened, "/messages?label=left-alone&state=CREATED", "Messages");
    await page.getByRole("row").filter({ hasText: other }).waitFor();
    expect(await all.count()).toBe(0);
  });
});

describe("a text typed into the search leads", () => {
  journey(
    "to the lists of a queue, a group, a label, a flow key, a schedule and a URL by their names",
    async () => {
      const { client } = pages.server;
      const target = pages.destination.url("/by-name");
      await client.post("/v2/queues", {}, '{"queueName":"name-of-queue"}');
      const endpoints = JSON.stringify({ endpoints: [{ url: target }] });
      await client.post("/v2/topics/name-of-group/endpoints", {}, endpoints);
      await client.post(`/v2/schedules/${target}`, {
        "service-cron": "0 0 1 1 *",
        "service-schedule-id": "name-of-schedule",
      });
      await client.published(target, {
        "service-label": "name-of-label",
        "service-flow-control-key": "name-of-key",
        "service-flow-control-value": "rate=1",
      });
      const { page, allowed } = await pages.signedIn();
      const wanted: readonly (readonly [text: string, shown: string, title: RegExp])[] = [
        ["of-queue", "name-of-queue", /Queue name-of-queue/],
        ["of-group", "name-of-group", /Group name-of-group/],
        ["of-schedule", "name-of-schedule", /Schedule name-of-schedule/],
        ["name-of-label", "messages with name-of-label", /Messages/],
        ["of-key", "name-of-key", /Flow keys/],
        [target, `to ${target}`, /Messages/],
        ["Limits", "Limits", /Limits/],
      ];

      for (const [text, shown, title] of wanted) {
        await find(page, text, shown);
        await page.getByRole("heading", { level: 1, name: title }).waitFor();
      }

      // The browser itself reports that none is an id.
      allowed.push(/40[04]/);
    },
  );

  journey(
    "to the page of a message, a dead letter, a schedule and a bulk action by its id",
    async () => {
      const { client } = pages.server;
      const [messageId = ""] = await pages.failed("by-id", 1);
      const target = pages.destination.url("/never");
      await client.post(`/v2/schedules/${target}`, {
        "service-cron": "0 0 1 1 *",
        "service-schedule-id": "by-id",
      });
      const begun = await client.delete("/v2/messages?label=by-id&async=true");
      const ids: Readonly<Record<string, string>> = {
        [messageId]: `Message ${messageId}`,
        [await letterId("by-id")]: "Dead letter",
        "by-id": "Schedule by-id",
        [String(begun.object()["actionId"])]: "Bulk action",
      };
      const opened = await pages.signedIn();
      const { page, look, allowed } = opened;

      for (const [id, title] of Object.entries(ids)) {
        await find(page, id, id);
        await page.getByRole("heading", { level: 1, name: title }).waitFor();
        await look();
      }
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox", { name: "Go to anything" }).fill("of-nothing");
      await isThere(page, "Nothing found for of-nothing.");

      // The browser itself reports each 404.
      allowed.push(/404/);
    },
  );
});

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
      await eventually(
        () => pages.letters("one-by-one"),
        (left) => left.length === 1,
      );
      await page.getByRole("button", { name: `Remove ${removed}` }).click();
      await page.getByRole("button", { name: "Keep" }).click();
      const kept = await pages.letters("one-by-one");
      // The dialog's own button may be there still, as it fades.
      await page.getByRole("button", { name: `Remove ${removed}`, exact: true }).click();
      await page.getByRole("button", { name: `Yes, remove ${removed}` }).click();
      await eventually(
        () => pages.letters("one-by-one"),
        (left) => left.length === 0,
      );
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
