/**
 * A real browser that tests drive: Chromium, of the host. What a page may never do is kept: errors, refusals of its policy,
 * requests to another origin.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Browser, chromium, type Page } from "playwright-core";

const axe = createRequire(import.meta.url).resolve("axe-core");

const installMsMax = 240_000;
const debianInstaller = "apt-get";

const found = (): string | undefined =>
  ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) =>
    existsSync(path),
  );

/** Debian's package, where this process may install it. */
function installed(): string | undefined {
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) return undefined;
  console.error("posthaste: installing Debian's chromium");
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const install = ["install", "-y", "--no-install-recommends", "chromium"];
  for (const args of [install, ["update"], install]) {
    spawnSync(debianInstaller, args, { env, stdio: "ignore", timeout: installMsMax });
    const path = found();
    if (path !== undefined) return path;
  }
  return undefined;
}

/** Undefined: this host has none, and can have none. */
export const browserPath = found() ?? installed();

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: browserPath ?? "", args: ["--no-sandbox"] });

export type WatchedPage = {
  readonly page: Page;
  /** What went wrong in it so far. */
  readonly troubles: readonly string[];
  /** The bytes of all that it was answered with. */
  readonly loaded: readonly Buffer[];
  /** Serious findings of axe, in words. */
  readonly findings: () => Promise<readonly string[]>;
};

export async function watchedPage(browser: Browser, origin: string): Promise<WatchedPage> {
  const page = await browser.newPage();
  const troubles: string[] = [];
  const loaded: Buffer[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) troubles.push(message.text());
  });
  page.on("pageerror", (error) => troubles.push(error.message));
  page.on("dialog", (dialog) => {
    troubles.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== origin) troubles.push(`asked ${request.url()}`);
  });
  page.on("response", (response) => {
    if (response.url().includes("/console/"))
      void response.body().then(
        (body) => loaded.push(body),
        () => undefined,
      );
  });
  const findings = async (): Promise<readonly string[]> => {
    // By the debugger, which the policy of the page does not bind.
    const session = await page.context().newCDPSession(page);
    const evaluate = async (expression: string): Promise<unknown> =>
      (
        await session.send("Runtime.evaluate", {
          expression,
          awaitPromise: true,
          returnByValue: true,
        })
      ).result.value;
    await evaluate(readFileSync(axe, "utf8"));
    const found = await evaluate(
      `axe.run().then(({ violations }) => violations.filter(({ impact }) => impact === "serious" || impact === "critical").map(({ id, nodes }) => id + " " + nodes[0].html))`,
    );
    await session.detach();
    return Array.isArray(found) ? found.map(String) : ["axe did not answer"];
  };
  return { page, troubles, loaded, findings };
}
