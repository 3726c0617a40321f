/** Tests the published form of `@posthaste/client`: packed, installed in an empty folder, and used there as in docs/client.md. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "@jest/globals";
import { fetchRuntime, freePort, lackedByRuntimes, type Runtime } from "@posthaste/local";
import { blocksOf } from "@posthaste/testing/pages";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { eventually } from "./client.ts";
import { operatorEnv, operatorPassword, operatorUser } from "./operator.ts";
import { developmentToken } from "./server-process.ts";
import { destination, server, startBeforeTests } from "./suite.ts";
import { firstUser } from "./users.ts";

const runFile = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
const client = join(root, "libs/client");
const home = temporaryFolder();
/** The folder of docs/client.md. */
const folder = join(home, "my-program");
const own = join(folder, "node_modules/@posthaste/client");
const entryBytesMax = 16_000;
/** A runtime may have to be fetched. */
const runtimeMsMax = 10 * 60_000;
const programMsMax = 60_000;

startBeforeTests({ env: operatorEnv });

beforeAll(async () => {
  await pack();
});

/** Provides the dependencies before npm looks for them, so that no test asks a registry. */
async function pack(): Promise<void> {
  const dist = join(home, "dist");
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, "@types"), { recursive: true });
  symlinkSync(join(client, "node_modules/got"), join(modules, "got"));
  writeFileSync(join(folder, "package.json"), '{"private":true,"type":"module"}');
  const [block] = blocksOf("sh pack-client");
  const script = (block?.code ?? "")
    .replace("scripts/package-client.js", `$& ${dist}`)
    .replace("./libs/client/dist", dist);
  const offline = { npm_config_offline: "true", npm_config_ignore_scripts: "true" };
  const env = { ...process.env, ...offline, HOME: home, npm_config_save: "false" };
  await runFile("sh", ["-euc", script], { cwd: root, env });
  // Further packages that the examples use.
  for (const name of ["express", "@types/express"])
    symlinkSync(join(client, "node_modules", name), join(modules, name));
  symlinkSync(join(root, "node_modules/@types/node"), join(modules, "@types/node"));
}

const examples = blocksOf("ts client").map(({ code }, at) => ({ name: `example-${at}.ts`, code }));
const placed = (name: string): string => {
  const { code } = examples.find((each) => each.name === name) ?? { code: "" };
  const file = join(folder, name);
  writeFileSync(file, code.replaceAll("https://shop.example", destination.url("")));
  return file;
};
const exampleWith = (text: string): string =>
  placed(examples.find(({ code }) => code.includes(text))?.name ?? text);

const environment = () => ({
  PATH: process.env["PATH"],
  POSTHASTE_URL: `http://127.0.0.1:${server.port}`,
  POSTHASTE_TOKEN: developmentToken,
  POSTHASTE_MANAGEMENT_URL: `http://127.0.0.1:${server.managementPort}`,
  POSTHASTE_MANAGEMENT_USER: operatorUser,
  POSTHASTE_MANAGEMENT_PASSWORD: operatorPassword,
  POSTHASTE_SIGNING_KEY: firstUser.keys.current,
  POSTHASTE_NEXT_SIGNING_KEY: firstUser.keys.next,
});
const node = async (...args: readonly string[]): Promise<string> =>
  (await runFile(process.execPath, [...args], { cwd: folder, env: environment() })).stdout;

describe("the package", () => {
  it("is loaded by import and by require", async () => {
    const shown =
      "console.log(Object.keys(client).sort().join(), Object.keys(receiver).sort().join())";
    writeFileSync(
      join(folder, "a.mjs"),
      `import * as client from "@posthaste/client"; import * as receiver from "@posthaste/client/receiver"; ${shown}`,
    );
    writeFileSync(
      join(folder, "a.cjs"),
      `const client = require("@posthaste/client"); const receiver = require("@posthaste/client/receiver"); ${shown}`,
    );

    const imported = await node("a.mjs");

    expect(imported).toContain(
      "PosthasteError,createClient,createManagement,settingNames NonRetryable,RetryAfter,",
    );
    expect(await node("a.cjs")).toBe(imported);
  });

  it("has the same operations over got, for Node alone", async () => {
    writeFileSync(
      join(folder, "n.mjs"),
      'import * as node from "@posthaste/client/node"; console.log(Object.keys(node).sort().join())',
    );

    expect(await node("n.mjs")).toBe("createClient,createManagement\n");
    expect(readFileSync(join(own, "index.js"), "utf8")).not.toMatch(/"got"|"node:/);
  });

  it("loads as CommonJS by require", async () => {
    writeFileSync(
      join(folder, "c.cjs"),
      'console.log(require.resolve("@posthaste/client"), require.resolve("@posthaste/client/receiver"), require.resolve("@posthaste/client/api"))',
    );

    const resolved = (await node("c.cjs")).trim().split(" ");

    expect(resolved.map((file) => file.slice(own.length))).toEqual([
      "/index.cjs",
      "/receiver/index.cjs",
      "/api.cjs",
    ]);
  });

  it("has the fields that a registry shows, is public and runs no script at an install", () => {
    const manifest = JSON.parse(readFileSync(join(own, "package.json"), "utf8")) as object;

    expect(manifest).toMatchObject({
      license: "Apache-2.0",
      repository: { directory: "libs/client" },
      publishConfig: { access: "public", provenance: true },
    });
    for (const field of ["description", "keywords", "homepage", "bugs", "engines", "files"])
      expect(manifest).toHaveProperty(field);
    for (const field of ["private", "scripts", "devDependencies"])
      expect(manifest).not.toHaveProperty(field);
  });

  it.each(["index.js", "index.cjs", "node.js", "receiver/index.js"])("has a small %s", (file) => {
    expect(statSync(join(own, file)).size).toBeLessThan(entryBytesMax);
  });

  it("has types for import and require, which accept the examples and refuse a wrong call", async () => {
    const files = examples.map(({ name }) => placed(name));
    writeFileSync(
      join(folder, "b.cts"),
      'import { createClient } from "@posthaste/client";\ncreateClient({ url: "", token: "" }).close();\n',
    );
    writeFileSync(
      join(folder, "wrong.ts"),
      [
        'import { createClient } from "@posthaste/client";',
        'const client = createClient({ url: "", token: "" });',
        "// @ts-expect-error there is no such filter",
        'void client.log.events({ query: { labels: "x" } });',
        "// @ts-expect-error a queue must be named",
        "void client.queues.upsert();",
        "// @ts-expect-error a message has no such field",
        'void client.messages.read("x").then(({ colour }) => colour);',
        "const misspelt = { to: 'https://a.example', retires: 3 };",
        ...["publish", "trigger"].flatMap((method) => [
          `// @ts-expect-error there is no such option of ${method}`,
          `void client.${method}({ to: "https://a.example", retires: 3 });`,
          `// @ts-expect-error nor in a variable`,
          `void client.${method}(misspelt);`,
        ]),
        "// @ts-expect-error there is no such option of a schedule",
        'void client.schedule({ cron: "* * * * *", ...misspelt });',
        "// @ts-expect-error there is no such option of a queued message",
        'void client.enqueue({ queue: "q", ...misspelt });',
        "// @ts-expect-error there is no such option of an item",
        'void client.batch([{ to: "https://a.example" }, { to: "https://a.example", json: 1, retires: 3 }]);',
        "// @ts-expect-error nor in a variable",
        "void client.batch([misspelt]);",
      ].join("\n"),
    );
    const compilerOptions = {
      ...{ module: "nodenext", target: "es2023", lib: ["es2023"], types: ["node"] },
      ...{ strict: true, noEmit: true, exactOptionalPropertyTypes: true },
    };
    const all = [...files, "b.cts", "wrong.ts"];
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: all }));
    const compiler = join(root, "node_modules/typescript/bin/tsc");

    const checked = await runFile(process.execPath, [compiler, "-p", folder]).catch(
      (error: { stdout: string }) => error,
    );

    expect(checked.stdout).toBe("");
  });
});

describe.each([
  ["nodenext", "nodenext"],
  ["esnext", "bundler"],
  ["commonjs", "node10"],
])("its types under module %s and resolution %s", (module, moduleResolution) => {
  it("check with the oldest supported TypeScript, without the types of Node", async () => {
    const place = join(folder, module);
    mkdirSync(place, { recursive: true });
    const program = [
      'import { createClient, PosthasteError } from "@posthaste/client";',
      'const client = createClient({ url: "", token: "" });',
      "export const published = async (): Promise<string> => {",
      '  const { messageId } = await client.publishJson({ to: "https://a.example", json: 1 });',
      "  return messageId;",
      "};",
      "// @ts-expect-error a message has no such field",
      'void client.messages.read("x").then(({ colour }) => colour);',
      "export const failed = (error: unknown) => error instanceof PosthasteError;",
    ].join("\n");
    const files = ["a.ts", ...(module === "nodenext" ? ["b.mts", "c.cts"] : [])];
    for (const file of files) writeFileSync(join(place, file), program);
    const compilerOptions = {
      ...{ module, moduleResolution, target: "es2022", types: [], strict: true, noEmit: true },
      lib: ["es2022", "dom", "dom.iterable"],
    };
    writeFileSync(join(place, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
    const compiler = join(client, "node_modules/typescript-oldest/bin/tsc");

    const checked = await runFile(process.execPath, [compiler, "-p", place]).catch(
      (error: { stdout: string }) => error,
    );

    expect(checked.stdout).toBe("");
  });
});

describe("an example of the package", () => {
  it("publishes a message", async () => {
    expect(await node(exampleWith("client.publishJson"))).toMatch(/^msg_\S+\n$/);

    const order = await destination.arrival("/orders");
    expect(order.headers).toMatchObject({ "x-shop": "north" });
    expect(String(order.body)).toBe('{"order":17}');
    await destination.arrival("/mail");
    await destination.arrival("/b");
  });

  it("reads its tenant with a client over got", async () => {
    expect(await node(exampleWith("@posthaste/client/node"))).toMatch(/^tenant \S+\n$/);
  });

  it('gets "not found" for an operation on a missing queue', async () => {
    expect(await node(exampleWith("client.queues.upsert"))).toMatch(/\n404 not_found \S/);
  });

  it("makes a token as the operator", async () => {
    expect(Number(await node(exampleWith("createManagement")))).toBeGreaterThan(0);
  });

  it("takes a delivery with a fetch handler", async () => {
    const port = await freePort();
    const program = join(folder, "fetch-server.ts");
    const lines = [
      `import { POST } from "./${basename(exampleWith("fetchHandler"))}";`,
      'import { createServer } from "node:http";',
      "createServer(async (request, response) => {",
      "  const body = await Array.fromAsync(request);",
      "  const headers = Object.entries(request.headers) as [string, string][];",
      '  const asked = { method: "POST", headers, body: Buffer.concat(body) };',
      `  const answer = await POST(new Request("http://127.0.0.1:${port}/orders", asked));`,
      "  response.writeHead(answer.status).end(await answer.text());",
      `}).listen(${port}, () => console.log("listening"));`,
    ];
    writeFileSync(program, lines.join("\n"));
    const child = spawn(process.execPath, [program], { cwd: folder, env: environment() });
    await once(child.stdout, "data");

    const url = `http://127.0.0.1:${port}/orders`;
    const id = await server.client.published(url, { "Service-Retries": "0" }, '{"order":6}');

    await eventually(
      () => server.client.get(`/v2/events?messageId=${id}&state=DELIVERED`),
      (reply) => reply.list("events").length === 1,
    );
    child.kill();
  });

  it.each([
    ["node:http", "nodeHandler"],
    ["express", "expressHandler"],
  ])("a receiver in %s takes a delivery", async (_, handler) => {
    const port = await freePort();
    const env = { ...environment(), PORT: String(port) };
    const child = spawn(process.execPath, [exampleWith(handler)], { cwd: folder, env });
    const printed = new Promise<string>((resolve) =>
      child.stdout.once("data", (data: Buffer) => resolve(String(data))),
    );

    // The receiver may start slowly on a busy host.
    const retry = { "Service-Retry-Delay": "200", "Service-Retries": "100" };
    const to = `http://127.0.0.1:${port}/orders`;
    await server.client.published(to, retry, '{"order":5}');

    expect(await printed).toMatch(/^order /);
    child.kill();
  });
});

type Elsewhere = readonly [name: string, Runtime, args: readonly string[], serve: string];

describe("the package in other runtimes", () => {
  const lacked = lackedByRuntimes();
  const elsewhere: readonly Elsewhere[] = [
    ["Bun 1.4.5", "bun", ["run"], "Bun.serve({ hostname, port: 0, fetch: handle }).port"],
    [
      "Deno 2.9.6",
      "deno",
      ["run", "--no-remote", "--node-modules-dir=manual", "--allow-net", "--allow-env"],
      "Deno.serve({ hostname, port: 0, onListen: () => {} }, handle).addr.port",
    ],
  ];
  if (lacked !== undefined)
    it.skip(`is loaded as in Node (not checked: this host has no ${lacked})`, () => undefined);
  else
    it.each(elsewhere)(
      "publishes, receives, verifies, lists and refuses in %s",
      async (_, runtime, args, serve) => {
        const binary = await fetchRuntime(runtime);
        const program = join(folder, `${runtime}.mjs`);
        writeFileSync(program, elsewhereProgram(serve));

        const { stdout } = await runFile(binary, [...args, program], {
          cwd: folder,
          env: { ...environment(), HOME: home, DENO_NO_UPDATE_CHECK: "1" },
          timeout: programMsMax,
        });

        expect(JSON.parse(stdout)).toEqual({
          ...{ body: '{"order":17}', isItsOwn: true, states: ["CREATED", "ACTIVE", "DELIVERED"] },
          ...{ forged: 401, refused: [404, "not_found"] },
        });
      },
      runtimeMsMax,
    );
});

const elsewhereProgram = (serve: string): string => `
import { createClient, PosthasteError } from "@posthaste/client";
import { createReceiver, fetchHandler } from "@posthaste/client/receiver";

const { POSTHASTE_URL: url, POSTHASTE_TOKEN: token, POSTHASTE_SIGNING_KEY: current } = process.env;
const hostname = "127.0.0.1";
const arrived = Promise.withResolvers();
const handle = fetchHandler(createReceiver(arrived.resolve, { keys: { current }, onProblem: arrived.reject }));
const to = "http://127.0.0.1:" + ${serve} + "/orders";
const client = createClient({ url, token });
const { messageId } = await client.publishJson({ to, json: { order: 17 } });
const delivery = await arrived.promise;
let states = [];
while (!states.includes("DELIVERED")) {
  const { events } = await client.log.events({ query: { messageId, order: "earliestFirst" } });
  states = events.map(({ state }) => state);
}
const forged = await fetch(to, { method: "POST", body: "{}", headers: { "service-signature": "a.b.c" } });
const refused = await client.queues.read("none").catch((error) => error);
if (!(refused instanceof PosthasteError)) throw refused;
client.close();
console.log(JSON.stringify({
  body: delivery.text(),
  isItsOwn: delivery.messageId === messageId,
  states,
  forged: forged.status,
  refused: [refused.status, refused.code],
}));
process.exit(0);
`;
