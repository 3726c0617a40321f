/**
 * Runs the examples of the user's pages unchanged, in a shell with curl. The text behind a `#` gives the status, if
 * it begins with one, and the fields of the answer. `…` replaces the rest of an id or an answer.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { execFile, spawnSync } from "node:child_process";
import { promisify } from "node:util";
import { blocksOf } from "@posthaste/testing/pages";
import { type Client, eventually, includes } from "./client.ts";
import { always, Destination } from "./destination.ts";
import { service } from "./dialects.ts";
import { textOf } from "./json.ts";
import { startServer, type TestServer } from "./server.ts";
import { developmentToken } from "./server-process.ts";

const hasCurl = spawnSync("curl", ["--version"]).status === 0;

let server: TestServer;
let client: Client;
let destination: Destination;

beforeAll(async () => {
  destination = await Destination.start();
  server = await startServer({ env: { POSTHASTE_LLM_URL: destination.url("/llm") } });
  client = server.client;
  const endpoints = [{ url: destination.url("/first") }, { url: destination.url("/second") }];
  await client.postJson("/v2/topics/my-group/endpoints", { endpoints });
  // Counts are written every few seconds (ADR 86), and an example reads them.
  await client.published(destination.url("/counted"), {});
  await eventually(
    async () => JSON.stringify((await client.get("/v2/counts")).object()),
    includes("DELIVERED"),
  );
});
afterAll(async () => {
  await destination.stop();
  await server.stop();
});

async function named(): Promise<Readonly<Record<string, string>>> {
  const waiting = await client.published(destination.url("/later"), service({ Delay: "1h" }));
  destination.answers("/broken", always(500));
  for (let n = 0; n < 2; n++)
    await client.published(destination.url("/broken"), service({ Retries: "0", Label: "import" }));
  const letters = await client.until(
    "/v2/dlq?label=import",
    "messages",
    (found) => found.length >= 2,
  );
  const action = await client.delete("/v2/messages?label=another&async=true");
  return {
    msg: waiting,
    dlq: textOf(letters[0]?.["dlqId"]),
    bulk: textOf(action.object()["actionId"]),
  };
}

type Answered = { readonly status: number; readonly body: string };

async function run(block: string): Promise<readonly Answered[]> {
  const ids = await named();
  const script = block.replace(/\b(msg|dlq|bulk)_…/g, (_, kind: string) => ids[kind] ?? "");
  const curl = String.raw`curl() { command curl -sS -w '\n%{http_code}\n' "$@"; }`;
  const { stdout } = await promisify(execFile)("sh", ["-euc", `${curl}\n${script}`], {
    env: {
      PATH: process.env["PATH"],
      P: `http://127.0.0.1:${server.port}`,
      TOKEN: developmentToken,
      TO: destination.url(""),
    },
  });
  return [...stdout.matchAll(/(.*?)\n(\d{3})\n/gs)].map(([, body = "", status]) => ({
    status: Number(status),
    body,
  }));
}

/** Returns the text behind the `#` of each command. */
const promises = (block: string): readonly string[] =>
  block
    .replaceAll("\\\n", " ")
    .split(/^(?=curl )/m)
    .filter((command) => command.startsWith("curl "))
    .map((command) => /\s# (.*)$/m.exec(command)?.[1] ?? "");

const fieldsIn = (text: string): readonly string[] =>
  [...text.matchAll(/"(\w+)":/g)].map(([, name = ""]) => name);

describe("each example of a page", () => {
  const all = blocksOf("sh");

  if (!hasCurl)
    it.skip("does what the page says (not checked: this host has no curl)", () => undefined);
  else
    it.each(all)("of $page does what the page says: $code", async ({ code }) => {
      const promised = promises(code);

      const answers = await run(code);

      expect(answers).toHaveLength(promised.length);
      expect(promised).not.toEqual([]);
      for (const [i, { status, body }] of answers.entries()) {
        const promise = promised[i] ?? "";
        const [wanted = "2"] = /^\d{3}/.exec(promise) ?? [];
        expect({ body, status: String(status).slice(0, wanted.length) }).toEqual({
          body,
          status: wanted,
        });
        expect(fieldsIn(body)).toEqual(expect.arrayContaining([...fieldsIn(promise)]));
      }
    });

  it.each(blocksOf("json"))("of an answer is JSON: $page, line $line", ({ code }) => {
    expect(() => JSON.parse(code) as unknown).not.toThrow();
  });
});
