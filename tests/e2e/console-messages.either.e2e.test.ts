/** Tests messages in the console: a failed message is found, corrected, and tried again. */
import { describe, expect } from "@jest/globals";
import { type Route } from "playwright-core";
import { eventually, hasLength } from "./client.ts";
import { consolePages, journey } from "./console-pages.ts";
import { find, goTo, isThere, visit } from "./console-site.ts";
import { failing } from "./destination.ts";

const pages = consolePages();

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

  journey("is not awaited in a list that was refused, which gives the reason", async () => {
    const opened = await pages.signedIn();
    const { page } = opened;

    for (const [hash, reason] of [
      ["/dead-letters?responseStatus=none", "responseStatus"],
      ["/groups/a%20b", "urlGroupName"],
    ] as const) {
      await goTo(page, hash);
      await page.getByRole("alert").filter({ hasText: reason }).waitFor();
      expect(await page.locator("main [aria-busy=true]").count()).toBe(0);
    }
    // The browser itself reports each refusal.
    opened.allowed.push(/400/);
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

    const first = await eventually(idsShown, hasLength(100));
    await page.getByRole("button", { name: "Next page" }).click();
    const second = await eventually(idsShown, hasLength(5));

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
