/** Builds the console, serves it by a server of the run's shape, and opens it in a real browser. */
import { type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { openBrowser, watchedPage, type WatchedPage } from "./browser.ts";
import { eventually, equals } from "./client.ts";
import { buildConsole, consoleFolder } from "./console-folder.ts";
import { Destination } from "./destination.ts";
import { operatorEnv } from "./operator.ts";
import { developmentToken } from "./server-process.ts";
import { startServer, type TestServer } from "./server.ts";
import { readOnlyToken } from "./users.ts";

export class ConsolePages {
  #browser: Browser | undefined;
  #server: TestServer | undefined;
  #destination: Destination | undefined;
  readonly #opened: WatchedPage[] = [];

  get server(): TestServer {
    if (!this.#server) throw new Error("there is no server");
    return this.#server;
  }

  get destination(): Destination {
    if (!this.#destination) throw new Error("there is no destination");
    return this.#destination;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.server.port}`;
  }

  async start(more: Env): Promise<void> {
    buildConsole();
    const env = { ...operatorEnv, POSTHASTE_CONSOLE: consoleFolder, ...more };
    this.#server = await startServer({ env, readOnlyToken });
    this.#destination = await Destination.start();
    this.#browser = await openBrowser();
  }

  async stop(): Promise<void> {
    await this.#browser?.close();
    await this.#destination?.stop();
    await this.#server?.stop();
  }

  /** Opens a page. `at`: the console's address; `settings`: the browser's. */
  async open(
    at = `${this.origin}/console/`,
    settings: BrowserContextOptions = {},
  ): Promise<WatchedPage> {
    if (!this.#browser) throw new Error("there is no browser");
    const opened = await watchedPage(this.#browser, new URL(at).origin, settings);
    this.#opened.push(opened);
    await opened.page.goto(at);
    return opened;
  }

  async signedIn(
    hash = "",
    { token = developmentToken, at = `${this.origin}/console/`, ...settings }: SignedIn = {},
  ): Promise<WatchedPage> {
    const opened = await this.open(`${at}${hash}`, settings);
    await signIn(opened.page, token);
    return opened;
  }

  /** Opens a page so narrow that the menu is behind a button. */
  async phone(hash: string, viewport: { width: number; height: number }): Promise<WatchedPage> {
    const opened = await this.open(`${this.origin}/console/${hash}`, { viewport });
    await giveToken(opened.page, developmentToken);
    await opened.page.getByRole("button", { name: "Menu" }).waitFor();
    return opened;
  }

  async tabBeside({ page }: WatchedPage, at: string): Promise<Page> {
    const tab = await page.context().newPage();
    await tab.goto(at);
    await isIn(tab);
    return tab;
  }

  /** Checks all pages of a test a last time, closes them, and returns their troubles. */
  async troubles(): Promise<readonly string[]> {
    const opened = this.#opened.splice(0);
    for (const { page, look } of opened) if (!page.isClosed()) await look();
    for (const { page } of opened) await page.context().close();
    return opened.flatMap(({ troubles, allowed }) =>
      troubles.filter((text) => !allowed.some((pattern) => pattern.test(text))),
    );
  }

  async failed(label: string, count: number, headers = {}, body = "", answer = body) {
    const path = `/${label}`;
    this.destination.answers(path, (_, response) => response.writeHead(500).end(answer));
    const settings = { "Service-Label": label, "Service-Retries": "0", ...headers };
    const { client } = this.server;
    const publish = () => client.published(this.destination.url(path), settings, body);
    const ids = await Promise.all(Array.from({ length: count }, publish));
    await eventually(() => this.#countLetters(label), equals(count));
    return ids;
  }

  async letters(label: string) {
    const path = `/v2/dlq?label=${label}&order=latestFirst`;
    return this.server.client.listed(path, "messages");
  }

  async #countLetters(label: string): Promise<number> {
    let count = 0;
    let cursor = "";
    do {
      const page = await this.server.client.page(
        `/v2/dlq?label=${label}&trimBody=0&cursor=${cursor}`,
      );
      count += page.list("messages").length;
      const { cursor: next } = page.object();
      cursor = typeof next === "string" ? next : "";
    } while (cursor !== "");
    return count;
  }

  works(path: string): void {
    this.destination.answers(path, (_, response) => response.writeHead(200).end());
  }
}

type SignedIn = BrowserContextOptions & { readonly token?: string; readonly at?: string };

export async function signIn(page: Page, token: string): Promise<void> {
  await giveToken(page, token);
  await isIn(page);
}

export const isIn = (page: Page): Promise<void> =>
  page.getByRole("navigation", { name: "Pages", exact: true }).waitFor();

export async function signOut(page: Page): Promise<void> {
  await page.getByRole("button", { name: /^(Tenant|Operator)/ }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.getByRole("button", { name: "Sign in" }).waitFor();
}

export async function giveToken(page: Page, token: string): Promise<void> {
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/** Goes to a page as a link would, and checks it. */
export async function visit(
  { page, look }: WatchedPage,
  hash: string,
  title: string,
): Promise<void> {
  await goTo(page, hash);
  await page.getByRole("heading", { level: 1, name: title }).waitFor();
  await settled(page);
  await look();
}

/** Resolves when the page no longer loads. */
export const settled = (page: Page): Promise<void> =>
  page.locator("main [aria-busy=true]").first().waitFor({ state: "detached" });

export async function find(page: Page, text: string, what: string): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Go to anything" }).fill(text);
  await page.getByRole("option").filter({ hasText: what }).first().click();
}

/** Returns the captions of tables that are wider than their boxes. */
export async function cutTables(page: Page): Promise<readonly string[]> {
  const told = await page.evaluate(
    `[...document.querySelectorAll(".table")]
      .filter((box) => box.scrollWidth > box.clientWidth)
      .map((box) => box.querySelector("caption")?.textContent)`,
  );
  return Array.isArray(told) ? told.map(String) : [];
}

export const goTo = (page: Page, hash: string): Promise<unknown> =>
  page.evaluate(`location.hash = ${JSON.stringify(hash)}`);

export const isThere = (page: Page, text: string | RegExp): Promise<void> =>
  page.getByText(text).filter({ visible: true }).first().waitFor();

export type Env = Readonly<Record<string, string>>;
