import { afterAll, afterEach, beforeAll, expect, it } from "@jest/globals";
import { browserPath } from "./browser.ts";
import { ConsolePages, type Env } from "./console-site.ts";

/** A test in a browser, skipped where there is none. */
export const journey = browserPath === undefined ? it.skip : it;

/**
 * Starts everything once for a file of journeys, and checks after each test that no page had trouble. `settings`: the
 * server's, beside the common ones.
 */
export function consolePages(settings: () => Promise<Env> = async () => ({})): ConsolePages {
  const pages = new ConsolePages();
  beforeAll(async () => {
    if (browserPath !== undefined) await pages.start(await settings());
  });
  afterEach(async () => expect(await pages.troubles()).toEqual([]));
  afterAll(() => pages.stop());
  return pages;
}
