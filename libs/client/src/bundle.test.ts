/** Bundles the client for browsers, edge runtimes, Deno and Bun, and runs it with the web's own APIs only. */
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo } from "node:net";
import { join } from "node:path";
import { createContext, runInContext } from "node:vm";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { build } from "esbuild";

const entry = join(import.meta.dirname, "index.ts");
const bundleBytesMax = 40_000;

const server = createServer((request, response) => {
  response.end(JSON.stringify({ token: request.headers.authorization, at: request.url }));
});
beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterAll(() => void server.close());

/** Each runtime's way to resolve packages. No package is external, so an import of a Node module fails the bundle. */
const runtimes = {
  browsers: { platform: "browser", conditions: ["browser"] },
  "edge runtimes": { platform: "neutral", conditions: ["workerd", "worker", "edge-light"] },
  Deno: { platform: "neutral", conditions: ["deno"] },
  Bun: { platform: "neutral", conditions: ["bun"] },
} as const;

describe.each(Object.entries(runtimes))("for %s", (_, runtime) => {
  it("the client is a small bundle without any module of Node, and makes calls", async () => {
    const { outputFiles } = await build({
      ...{ entryPoints: [entry], bundle: true, write: false, minify: true },
      ...{ format: "iife", globalName: "client", ...runtime },
      conditions: [...runtime.conditions],
    });
    const code = outputFiles[0]?.text ?? "";
    const web = { fetch, URL, URLSearchParams, AbortSignal, TextEncoder, TextDecoder, btoa };
    const timers = { setTimeout, clearTimeout, performance };
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}`;
    const call = `client.createClient({ url: "${url}", token: "t" }).me.read()`;
    const manage = `client.createManagement({ url: "${url}", user: "ü", password: "p" }).tenants.list()`;

    const context = createContext({ ...web, ...timers });
    runInContext(code, context);
    const answers = [await runInContext(call, context), await runInContext(manage, context)];

    expect(code.length).toBeLessThan(bundleBytesMax);
    expect(answers).toEqual([
      { token: "Bearer t", at: "/v2/me" },
      { token: `Basic ${Buffer.from("ü:p").toString("base64")}`, at: "/v2/tenants" },
    ]);
  });
});
