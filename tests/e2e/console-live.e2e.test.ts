/** The console while things happen: each tab shows it, and all of them together ask once. */
import { describe, expect } from "@jest/globals";
import { eventually } from "./client.ts";
import { consolePages, isThere, journey, picture, visit } from "./console-pages.ts";
import { failing } from "./destination.ts";
import { Proxy } from "./proxy.ts";

const pages = consolePages();

describe("what happens", () => {
  journey("in the last hour is counted on the first page, with what stands now", async () => {
    await pages.failed("counted", 2);
    const opened = await pages.signedIn();
    const { page } = opened;
    const figure = (name: string) =>
      page.locator(".figure").filter({ has: page.getByText(name, { exact: true }) });

    await visit(opened, "/", "Overview");
    await figure("Dead letters").filter({ hasText: "2" }).waitFor();
    await figure("Failed for good").filter({ hasText: "2" }).waitFor();
    await page.getByRole("img", { name: /2 failed/ }).waitFor();
    await pages.server.client.published(pages.destination.url("/counted-too"));
    await page.getByRole("img", { name: /1 delivered, 2 failed/ }).waitFor();
    await picture(page, "overview", 540);
    await page.getByRole("link", { name: "See them" }).click();
    await page.getByRole("heading", { level: 1, name: "Dead letters" }).waitFor();
  });

  journey("is shown by three tabs, which have one request open between them", async () => {
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

  journey("to one message is shown on its page as it happens", async () => {
    pages.destination.answers("/followed", failing(1));
    const headers = { "service-retries": "1", "service-retry-delay": "3000" };
    const id = await pages.server.client.published(pages.destination.url("/followed"), headers);
    const opened = await pages.signedIn();

    await visit(opened, `/messages/${id}`, `Message ${id}`);
    await isThere(opened.page, /^Attempt 1$/);
    await isThere(opened.page, /^Attempt 2$/);
    await isThere(opened.page, /^delivered$/);
  });

  journey("moves no row under the pointer: what is new waits until that rests", async () => {
    const label = "under-the-pointer";
    const publish = () =>
      pages.server.client.published(pages.destination.url("/pointed"), { "service-label": label });
    const before = await publish();
    const { page } = await pages.signedIn(`#/messages?label=${label}&state=DELIVERED`);
    await page.getByRole("link", { name: before }).hover();
    const box = await page.getByRole("table").boundingBox();
    const after = await publish();
    let moves = 0;
    await eventually(
      async () => {
        await page.mouse.move((box?.x ?? 0) + 20 + (moves++ % 2), (box?.y ?? 0) + 60);
        return page.getByText("1 new, shown when the pointer rests").count();
      },
      (count) => count === 1,
    );

    expect(await page.getByRole("link", { name: after }).count()).toBe(0);
    await page.getByRole("link", { name: after }).waitFor();
  });
});
