import { mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { fault } from "@posthaste/domain";
import { type VirtualClock, virtualClock } from "@posthaste/testing";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { type Edge } from "../edge/edge.ts";
import { type RawAnswer, rawExchange, request, testEdge } from "../edge/raw-exchange.fixture.ts";
import { createConsolePages } from "./console.ts";

const script = "console.log(1);".repeat(100);
const asset = "/console/assets/main-1.js";

let folder: string;
let clock: VirtualClock;
let edge: Edge;

beforeEach(async () => {
  folder = temporaryFolder();
  clock = virtualClock();
  const consolePages = createConsolePages({ folder, page: "operator.html" }, clock);
  ({ edge } = await testEdge({
    handle: (answers) => async (req, res) => {
      const answerPage = consolePages(req);
      if (!(answerPage && (await answerPage(req, res))))
        answers.fault(res, fault("not_found", "got through"));
    },
  }));
});
afterEach(async () => {
  await edge.stop();
});

async function ask(
  path: string,
  headers: readonly string[] = [],
  method = "GET",
): Promise<RawAnswer> {
  const [answer] = await rawExchange(edge.port, request(`${method} ${path} HTTP/1.1`, headers));
  if (!answer) throw new Error("no answer");
  return answer;
}

const headerOf = ({ head }: RawAnswer, name: string): string | undefined =>
  new RegExp(`^${name}: (.*)\r$`, "im").exec(head)?.[1];

/** Lays out a build as Vite does; `second` is the time of its last file. */
function build(second: number, text = script): void {
  mkdirSync(join(folder, "assets"), { recursive: true });
  writeFileSync(join(folder, "assets/main-1.js"), text);
  writeFileSync(join(folder, "operator.html"), "<p>the operator's</p>");
  writeFileSync(join(folder, "index.html"), "<p>a tenant's</p>");
  utimesSync(join(folder, "index.html"), second, second);
}

describe("the reference", () => {
  const buildReference = (): void => {
    mkdirSync(join(folder, "docs/assets"), { recursive: true });
    writeFileSync(join(folder, "docs/index.html"), "<p>the reference</p>");
    writeFileSync(join(folder, "docs/assets/page-1.js"), script);
    writeFileSync(join(folder, "docs/gateway.json"), '{"of":"the gateway"}');
    writeFileSync(join(folder, "docs/management.json"), '{"of":"management"}');
  };

  it("is beside the console, with the document of the API that serves it", async () => {
    build(1);
    buildReference();

    expect(await ask("/docs/")).toMatchObject({ status: 200, body: "<p>the reference</p>" });
    expect(await ask("/docs/assets/page-1.js")).toMatchObject({ status: 200, body: script });
    const document = await ask("/openapi.json?x=1");
    expect(document).toMatchObject({ status: 200, body: '{"of":"management"}' });
    expect(headerOf(document, "Content-Type")).toBe("application/json");
    expect(headerOf(document, "Cache-Control")).toBe("no-cache");
    const moved = await ask("/docs");
    expect([moved.status, headerOf(moved, "Location")]).toEqual([308, "docs/"]);
  });

  it("is the file of its build, to GET and HEAD alone", async () => {
    buildReference();

    for (const path of ["/docs/gateway.json", "/docs/index.html", "/docsx", "/openapi.jsonx"])
      expect((await ask(path)).status).toBe(404);
    for (const path of ["/docs/", "/openapi.json", "/"])
      expect((await ask(path, ["Accept: text/html"], "POST")).status).toBe(404);
  });
});

describe("the root", () => {
  it.each([
    ["text/html", 302],
    ["text/html,application/xhtml+xml;q=0.9,*/*;q=0.8", 302],
    ["application/json, text/html;q=0.1", 302],
    ["*/*", 404],
    ["application/json", 404],
    ["text/htmlx", 404],
  ])("of a caller that takes %s is answered with %i", async (accept, status) => {
    const answer = await ask("/", [`Accept: ${accept}`]);

    expect(answer.status).toBe(status);
    expect(headerOf(answer, "Location")).toBe(status === 302 ? "console/" : undefined);
  });
});

describe("the console's files", () => {
  it("are its page, which a browser requests again, and assets, which it keeps for ever", async () => {
    build(1);

    const page = await ask("/console/");
    const file = await ask(asset);

    expect(page).toMatchObject({ status: 200, body: "<p>the operator's</p>" });
    expect(headerOf(page, "Cache-Control")).toBe("no-cache");
    expect(headerOf(page, "Content-Type")).toBe("text/html; charset=utf-8");
    expect(headerOf(page, "Content-Security-Policy")).toMatch(/^default-src 'none'; script-src/);
    expect(file).toMatchObject({ status: 200, body: script });
    expect(headerOf(file, "Cache-Control")).toBe("public, max-age=31536000, immutable");
  });

  it("are sent compressed to a caller that takes gzip, and as they are to any other", async () => {
    build(1);

    const small = await ask(asset, ["Accept-Encoding: br, gzip;q=0.5"]);
    const refused = await ask(asset, ["Accept-Encoding: gzip;q=0, br"]);

    expect(headerOf(small, "Content-Encoding")).toBe("gzip");
    expect(headerOf(small, "Vary")).toBe("Accept-Encoding");
    expect(gunzipSync(Buffer.from(small.body, "latin1")).toString()).toBe(script);
    expect(headerOf(refused, "Content-Encoding")).toBeUndefined();
    expect(refused.body).toBe(script);
  });

  it("are not sent to a caller that has them, nor for HEAD", async () => {
    build(1);
    const gzip = "Accept-Encoding: gzip";

    const first = await ask(asset, [gzip]);
    const again = await ask(asset, [gzip, `If-None-Match: "x", W/${headerOf(first, "ETag")}`]);
    const plain = await ask(asset, [`If-None-Match: ${headerOf(first, "ETag")}`]);
    const head = await ask(asset, [], "HEAD");

    expect(again).toMatchObject({ status: 304, body: "" });
    // The same file in another coding has another tag.
    expect(plain).toMatchObject({ status: 200, body: script });
    expect(head).toMatchObject({ status: 200, body: "" });
    expect(headerOf(head, "Content-Length")).toBe(String(script.length));
  });

  it("are the files of a build: no other name leads to a file", async () => {
    build(1);
    writeFileSync(join(folder, "secret.txt"), "secret");

    const names = [
      "secret.txt",
      "assets/none.js",
      "assets/../index.html",
      "..%2fx.js",
      "index.html",
    ];
    for (const name of names) expect((await ask(`/console/${name}`)).status).toBe(404);
    expect((await ask("/console/", [], "POST")).status).toBe(404);
    expect((await ask("/consoles")).status).toBe(404);
  });

  it("are requested below a slash, under any path of a proxy", async () => {
    const moved = await ask("/console?x=1");

    expect([moved.status, headerOf(moved, "Location")]).toEqual([308, "console/"]);
  });

  it("are read again when they were built anew, and looked for once a second at most", async () => {
    const before = await ask("/console/");
    build(1);
    const tooSoon = await ask("/console/");
    await clock.advance(1_000);
    const first = await ask(asset);
    build(2, "later");
    const kept = await ask(asset);
    await clock.advance(1_000);
    const second = await ask(asset);

    expect([before.status, tooSoon.status]).toEqual([404, 404]);
    expect([first.body, kept.body, second.body]).toEqual([script, script, "later"]);
  });

  it("stay unchanged while the folder is away or half made", async () => {
    build(1);
    await ask("/console/");
    await clock.advance(1_000);

    rmSync(join(folder, "assets"), { recursive: true });
    utimesSync(join(folder, "index.html"), 2, 2);

    expect((await ask(asset)).body).toBe(script);
  });
});
