/**
 * Drives a real browser: the host's Chromium. Records what a page must never do: errors, refusals of its policy, requests to
 * another origin, and serious findings of axe.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

const axe = createRequire(import.meta.url).resolve("axe-core");

const installMsMax = 240_000;
/** The wait for a page. Nothing is measured by it. */
const busyHostMsMax = 60_000;
const debianInstaller = "apt-get";

/** Prefers the shell without windows, which draws the same pages for a fifth of the CPU time. */
const found = (): string | undefined =>
  ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"]
    .map((name) => `/usr/bin/${name}`)
    .find((path) => existsSync(path));

function installed(): string | undefined {
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) return undefined;
  console.error("posthaste: installing Debian's chromium-headless-shell");
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const install = ["install", "-y", "--no-install-recommends"];
  const shell = [...install, "chromium-headless-shell"];
  // Older releases of Debian and Ubuntu have no shell.
  for (const args of [shell, ["update"], shell, [...install, "chromium"]]) {
    spawnSync(debianInstaller, args, {
      env,
      stdio: "ignore",
      timeout: installMsMax,
    });
    const path = found();
    if (path !== undefined) return path;
  }
  return undefined;
}

/** Undefined where the host has no browser and cannot install one. */
export const browserPath = found() ?? installed();

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: browserPath ?? "",
    args: ["--no-sandbox"],
  });

export type WatchedPage = {
  readonly page: Page;
  readonly troubles: string[];
  /** Troubles that belong to the test, whenever they come, such as the browser's report of a 404. */
  readonly allowed: RegExp[];
  /** Adds serious findings of axe to the troubles. */
  readonly look: () => Promise<void>;
};

/** `origin`: the only host that the page can reach. */
export async function watchedPage(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    ...options,
  });
  context.setDefaultTimeout(busyHostMsMax);
  const troubles: string[] = [];
  await context.route(
    (url) => url.origin !== origin,
    (route) => {
      troubles.push(`asked ${route.request().url()}`);
      return route.abort();
    },
  );
  const page = await context.newPage();
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) troubles.push(message.text());
  });
  page.on("pageerror", (error) => troubles.push(error.message));
  page.on("dialog", (dialog) => {
    troubles.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  const look = async (): Promise<void> => void troubles.push(...(await findingsIn(page)));
  return { page, troubles, allowed: [], look };
}

/** Runs axe by the debugger, to which the page's policy does not apply. */
async function findingsIn(page: Page): Promise<readonly string[]> {
  const session = await page.context().newCDPSession(page);
  const evaluate = async (expression: string): Promise<unknown> => {
    const asked = { expression, awaitPromise: true, returnByValue: true };
    return (await session.send("Runtime.evaluate", asked)).result.value;
  };
  if ((await evaluate("typeof axe")) === "undefined") await evaluate(readFileSync(axe, "utf8"));
  const told = await evaluate(
    // axe would spend as long on locating passed elements as on checking.
    `axe.run({ resultTypes: ["violations"], selectors: false }).then(({ violations }) => violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => location.hash + " " + id + " " + nodes[0].html))`,
  );
  await session.detach();
  return Array.isArray(told) ? told.map(String) : ["axe did not answer"];
}
