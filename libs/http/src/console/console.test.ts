import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { fault } from "@posthaste/domain";
import { type VirtualClock, virtualClock } from "@posthaste/testing";
import { type Edge } from "../edge/edge.ts";
import { type RawAnswer, rawExchange, request, testEdge } from "../edge/raw-exchange.fixture.ts";
import { createConsole } from "./console.ts";

const script = "console.log(1);".repeat(100);
const asset = "/console/assets/main-1.js";

let folder: string;
let clock: VirtualClock;
let edge: Edge;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "posthaste-files-"));
  clock = virtualClock();
  const answerConsole = createConsole({ folder, page: "operator.html" }, clock);
  ({ edge } = await testEdge({
    handle: (answers) => async (req, res) => {
      if (!(await answerConsole(req, res))) answers.fault(res, fault("not_found", "got through"));
    },
  }));
});
afterEach(async () => {
  await edge.stop();
  rmSync(folder, { recursive: true });
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

/** As Vite lays it out; `second`: when. */
function build(second: number, text = script): void {
  mkdirSync(join(folder, "assets"), { recursive: true });
  writeFileSync(join(folder, "assets/main-1.js"), text);
  writeFileSync(join(folder, "operator.html"), "<p>the operator's</p>");
  writeFileSync(join(folder, "index.html"), "<p>a tenant's</p>");
  utimesSync(join(folder, "index.html"), second, second);
}

describe("the console's files", () => {
  it("are its page, which a browser asks for again, and assets, which it keeps for ever", async () => {
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
    // The same file in another coding has a tag of its own.
    expect(plain).toMatchObject({ status: 200, body: script });
    expect(head).toMatchObject({ status: 200, body: "" });
    expect(headerOf(head, "Content-Length")).toBe(String(script.length));
  });

  it("are those that a build gives: no other name leads to a file", async () => {
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

  it("are asked for below a slash, wherever a proxy has put them", async () => {
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

  it("stay what they were while the folder is away or half made", async () => {
    build(1);
    await ask("/console/");
    await clock.advance(1_000);

    rmSync(join(folder, "assets"), { recursive: true });
    utimesSync(join(folder, "index.html"), 2, 2);

    expect((await ask(asset)).body).toBe(script);
  });
});
