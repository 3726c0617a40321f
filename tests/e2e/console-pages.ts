/** The console for a file of tests. */
import { afterAll, afterEach, beforeAll, expect, it } from "@jest/globals";
import { browserPath } from "./browser.ts";
import { ConsolePages, type Env } from "./console-site.ts";

/** A test in a browser, where there is one. */
export const journey = browserPath === undefined ? it.skip : it;

/**
 * For a file of journeys: everything is started once, and after each test nothing may have gone wrong in any page. `settings`: of
 * the server, beside those that all have.
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
