/**
 * Runs the programs of the pages in Node unchanged, until each has printed the text behind its `console.log(…); //`.
 * The page's block `sh meanwhile` is sent to a program as soon as it listens.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, expect, it } from "@jest/globals";
import { freePort } from "@posthaste/local";
import { blocksOf } from "@posthaste/testing/pages";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { eventually } from "./client.ts";
import { destination, server, startBeforeTests } from "./suite.ts";
import { developmentToken } from "./server-process.ts";
import { firstUser } from "./users.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = temporaryFolder();
/** The programs, with an example's import from beside it replaced. */
const programs = blocksOf("ts").map((block, nth) => ({
  ...block,
  file: join(folder, `program-${nth}.ts`),
  code: block.code.replaceAll('"./orders.ts"', '"@posthaste/examples"'),
}));

startBeforeTests();

beforeAll(async () => {
  symlinkSync(join(root, "tests/node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
});

it("the type checker accepts the programs of the pages", async () => {
  for (const { file, code } of programs) writeFileSync(file, code);
  const compilerOptions = {
    ...{ module: "nodenext", target: "es2023", lib: ["es2023"], strict: true, noEmit: true },
    ...{ types: ["node"], typeRoots: [join(root, "node_modules/@types")] },
    ...{ allowImportingTsExtensions: true, skipLibCheck: true },
  };
  const files = programs.map(({ file }) => file);
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  const compiler = join(root, "node_modules/typescript/bin/tsc");

  const checked = await promisify(execFile)(process.execPath, [compiler, "-p", folder]).catch(
    (error: { stdout: string }) => error,
  );

  expect(checked.stdout).toBe("");
});

type Running = {
  readonly port: number;
  readonly env: NodeJS.ProcessEnv;
  readonly said: () => string;
  readonly hasFailed: () => boolean;
  /** Replaces the addresses of a page by those of this suite. */
  readonly here: (text: string) => string;
  readonly stop: () => void;
};

async function started({ code, file }: (typeof programs)[number]): Promise<Running> {
  const port = await freePort();
  const here = (text: string): string =>
    text
      .replaceAll("127.0.0.1:3000", `127.0.0.1:${port}`)
      .replaceAll("listen(3000)", `listen(${port})`)
      .replaceAll("127.0.0.1:8080", `127.0.0.1:${server.port}`)
      .replaceAll("http://127.0.0.1:8081", destination.url(""));
  writeFileSync(file, here(code));
  const url = `http://127.0.0.1:${server.port}`;
  const env = {
    PATH: process.env["PATH"],
    PORT: String(port),
    ...{ POSTHASTE_URL: url, POSTHASTE_TOKEN: developmentToken },
    ...{ QSTASH_URL: url, QSTASH_TOKEN: developmentToken },
    ...{ QSTASH_CURRENT_SIGNING_KEY: firstUser.keys.current },
    ...{ QSTASH_NEXT_SIGNING_KEY: firstUser.keys.next },
    ...{ POSTHASTE_SIGNING_KEY: firstUser.keys.current },
    ...{ POSTHASTE_NEXT_SIGNING_KEY: firstUser.keys.next },
  };
  const child = spawn(process.execPath, [file], { cwd: folder, env });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (said += text));
  const hasFailed = (): boolean => (child.exitCode ?? 0) > 0;
  return { port, env, said: () => said, hasFailed, here, stop: () => child.kill() };
}

/** Waits until a program listens, or has ended. */
const listens = ({ hasFailed, port }: Running): Promise<unknown> =>
  eventually(
    async () => fetch(`http://127.0.0.1:${port}/`).catch(() => undefined),
    (answer) => answer !== undefined || hasFailed(),
  );

it.each(programs)("the program of $page at line $line does what the page says", async (program) => {
  const { code, page } = program;
  const running = await started(program);
  const { env, hasFailed, here, said } = running;
  const promised = [...code.matchAll(/console\.log\(.*\); \/\/ (.+)$/gm)].map(([, text]) => text);

  try {
    const meanwhile = blocksOf("sh meanwhile").filter((block) => block.page === page);
    if (meanwhile.length > 0) {
      await listens(running);
      const script = here(meanwhile.map((block) => block.code).join("\n"));
      await promisify(execFile)("sh", ["-euc", script], { env });
    }
    await eventually(
      async () => said(),
      (text) => promised.every((line) => text.includes(line ?? "")) || hasFailed(),
    );

    expect(said()).not.toMatch(/Error/);
    for (const line of promised) expect(said()).toContain(line);
    expect(promised).not.toEqual([]);
  } finally {
    running.stop();
  }
});

it("the program that verifies by hand refuses unsigned requests, and none ends it", async () => {
  const byHand = programs.filter(({ code }) => code.includes("timingSafeEqual"));
  expect(byHand).toHaveLength(1);
  for (const program of byHand) {
    const running = await started(program);
    try {
      await listens(running);
      // As long as a MAC, in more bytes.
      const signature = `e30.e30.${"é".repeat(43)}`;
      const to = `http://127.0.0.1:${running.port}/`;
      expect((await fetch(to, { headers: { "service-signature": signature } })).status).toBe(403);
      const brokenOff = connect(running.port, "127.0.0.1");
      await once(brokenOff, "connect");
      brokenOff.end("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf");
      await once(brokenOff.resume(), "close");

      expect((await fetch(to)).status).toBe(403);
      expect(running.said()).toBe("");
    } finally {
      running.stop();
    }
  }
});
