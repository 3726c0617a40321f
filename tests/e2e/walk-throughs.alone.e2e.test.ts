/**
 * Runs the pages that begin with a server: the block `sh start` runs until the end, as in a terminal of its own, and
 * then all blocks `sh then` of the page, in one shell. A refused request ends it. The text behind a `#` must be in
 * the answers.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "@jest/globals";
import { freePort } from "@posthaste/local";
import { type Block, blocksOf } from "@posthaste/testing/pages";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { eventually, includes } from "./client.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const portsWanted = 3;

it.each(blocksOf("sh start"))("$page does what the page says, line by line", async (start) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, ".curlrc"), "silent\nshow-error\nfail-with-body\n");
  const port = await freePort(portsWanted);
  const env = {
    PATH: process.env["PATH"],
    HOME: folder,
    CURL_HOME: folder,
    POSTHASTE_PORT: String(port),
    POSTHASTE_DATA_DIR: join(folder, "data"),
  };
  const shell = (script: string) => {
    const child = spawn("sh", ["-euc", script], { cwd: root, env, detached: true });
    let said = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => (said += text));
    return { child, said: () => said, ended: once(child, "close") };
  };
  const server = shell(start.code);
  try {
    const said = await eventually(
      async () => server.said(),
      (text) => text.includes("Publish a first message") || server.child.exitCode !== null,
    );
    const token = /token +(\S+)/.exec(said)?.[1] ?? said;
    const then = blocksOf("sh then").filter(({ page }) => page === start.page);
    const script = textOf(then)
      .replaceAll("<the printed token>", token)
      .replaceAll(/\b808([0-2])\b/g, (_, distance: string) => String(port + Number(distance)));

    const walk = shell(script);
    await walk.ended;

    expect({ code: walk.child.exitCode, said: walk.said() }).toMatchObject({ code: 0 });
    for (const promise of promisesIn(script)) expect(walk.said()).toContain(promise);
    if (script.includes(`:${port + 1}/`))
      await eventually(async () => server.said(), includes("caught  POST"));
  } finally {
    process.kill(-(server.child.pid ?? 0), "SIGKILL");
    await server.ended;
  }
});

const textOf = (blocks: readonly Block[]): string => blocks.map(({ code }) => code).join("\n");

const promisesIn = (script: string): readonly string[] =>
  [...script.matchAll(/ # .*$/gm)].flatMap(([comment]) => comment.match(/"\w+":/g) ?? []);
