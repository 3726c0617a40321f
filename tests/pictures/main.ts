/**
 * `npm run pictures`: takes a picture of each page of the console, wide and on a phone, light and dark, with the data
 * that real SDKs made in a standalone. All of them are written to .cache/pictures; the ones that a page of docs/
 * shows are written to docs/images, which then has no others.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Page } from "playwright-core";
import { browserPath } from "../e2e/browser.ts";
import { ConsolePages, giveToken, goTo, settled } from "../e2e/console-site.ts";
import { operatorPassword, operatorUser } from "../e2e/operator.ts";
import { developmentToken } from "../e2e/server-process.ts";
import { WorkflowEndpoint } from "../e2e/workflow-endpoint.ts";
import { openShop } from "./shop.ts";
import { tenantPictures, operatorPictures, type Picture } from "./scenes.ts";
import { asWebp } from "./webp.ts";

const root = dirname(dirname(import.meta.dirname));
const all = join(root, ".cache/pictures");
const shown = join(root, "docs/images");
const bytesMax = 150 * 1_024;
const heightMax = 1_200;

const widths = [1_400, 390] as const;
const schemes = ["light", "dark"] as const;

if (browserPath === undefined) throw new Error("pictures need Chromium, and this host has none");
rmSync(all, { recursive: true, force: true });
mkdirSync(all, { recursive: true });
const pages = new ConsolePages();
const endpoint = await WorkflowEndpoint.start();
// The SDK prints each error of a step.
console.error = () => undefined;
try {
  await pages.start({});
  const shop = await openShop(pages, endpoint);
  for (const colorScheme of schemes)
    for (const width of widths) {
      const settings = { colorScheme, viewport: { width, height: 900 }, deviceScaleFactor: 1 };
      const name = `${width}-${colorScheme}`;
      const { page } = await pages.open(`${pages.origin}/console/`, settings);
      await take(page, "sign-in", name);
      await giveToken(page, developmentToken);
      await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
      await takeAll(page, tenantPictures(shop), name);
      const at = `http://127.0.0.1:${pages.server.managementPort}/console/`;
      const { page: operator } = await pages.open(at, settings);
      await operator.getByLabel("User").fill(operatorUser);
      await operator.getByLabel("Password").fill(operatorPassword);
      await operator.getByRole("button", { name: "Sign in" }).click();
      await operator.getByRole("heading", { level: 1, name: "Tenants" }).waitFor();
      await takeAll(operator, operatorPictures, name);
      await page.context().close();
      await operator.context().close();
    }
} finally {
  await pages.stop();
  await endpoint.stop();
}
const cited = citedIn(join(root, "docs"));
mkdirSync(shown, { recursive: true });
for (const file of readdirSync(shown)) if (!cited.has(file)) rmSync(join(shown, file));
for (const file of cited) writeFileSync(join(shown, file), readFileSync(join(all, file)));
console.log(`${readdirSync(all).length} pictures in .cache/pictures, ${cited.size} in docs/images`);

async function takeAll(page: Page, pictures: readonly Picture[], name: string): Promise<void> {
  for (const { at, scene, act } of pictures) {
    await goTo(page, at);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await settled(page);
    await act?.(page);
    await take(page, scene, name);
    // Closes what an act has opened.
    await page.keyboard.press("Escape");
  }
}

/** Takes a picture to the end of the page, or as much as a reader takes in. */
async function take(page: Page, scene: string, name: string): Promise<void> {
  await page.mouse.move(0, 0);
  await settled(page);
  // A click leaves no ring around the heading.
  await page.evaluate("document.querySelector('h1:focus')?.blur()");
  const { width = 0, height = 0 } = page.viewportSize() ?? {};
  const whole = Number(await page.evaluate("document.documentElement.scrollHeight"));
  const clip = { x: 0, y: 0, width, height: Math.min(Math.max(whole, height), heightMax) };
  const png = await page.screenshot({ clip, fullPage: true, animations: "disabled" });
  const webp = await asWebp(page, png);
  if (webp.length > bytesMax) throw new Error(`${scene}-${name} has ${webp.length} bytes`);
  writeFileSync(join(all, `${scene}-${name}.webp`), webp);
}

/** Returns the names of pictures in the pages of a folder. */
function citedIn(folder: string): ReadonlySet<string> {
  const texts = readdirSync(folder)
    .filter((file) => file.endsWith(".md"))
    .map((file) => readFileSync(join(folder, file), "utf8"));
  const named = texts.flatMap((text) => [...text.matchAll(/\(images\/([\w.-]+\.webp)\)/g)]);
  return new Set(named.flatMap(([, file]) => file ?? []));
}
