/** A server that speaks Redis' protocol with nonsense answers, or speaks no protocol at all. */
import { afterEach, describe, expect, it } from "@jest/globals";
import { flowLaneId } from "@posthaste/domain";
import { aKey, aTenant, newId } from "@posthaste/testing";
import { createServer, type Server, type Socket } from "node:net";
import { type Opened, openTokens, untilUp } from "./opened.fixture.ts";

const nonsense: readonly (readonly [string, string])[] = [
  ["a number for every question", ":42\r\n"],
  ["nothing", "$-1\r\n"],
  ["an empty list", "*0\r\n"],
  ["a list of lists of nothing", "*2\r\n*1\r\n$-1\r\n*1\r\n$-1\r\n"],
  ["texts where numbers belong", "*3\r\n$1\r\nx\r\n$3\r\nNaN\r\n$-1\r\n"],
  ["a failure of its own making", "-ERR what do you want\r\n"],
  ["that it is loading, for ever", "-LOADING Redis is loading the dataset in memory\r\n"],
  ["that it may only be read", "-READONLY You can't write against a read only replica.\r\n"],
  ["the beginning of two gigabytes", "$2000000000\r\nabc"],
  ["no protocol at all", "HTTP/1.1 400 Bad Request\r\n\r\n"],
];

let server: Server;
let tokens: Opened;
const sockets = new Set<Socket>();

afterEach(async () => {
  await tokens.close();
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

describe("a Redis that answers", () => {
  it.each(nonsense)("%s grants nothing, and is a failure within its budget", async (_, reply) => {
    tokens = openTokens(await answering(reply), { budgetMs: 500 });
    await untilUp(tokens);
    const lane = flowLaneId(aTenant, "lane");
    const id = newId();

    const answers = await Promise.allSettled([
      tokens.claim([{ key: aKey("key"), id }]),
      tokens.acquire(lane, [id], { parallelism: 1, periodMs: 1_000 }),
      tokens.use(lane, [id]),
    ]);

    expect(answers.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  });
});

/** Answers each script with `reply`, and the checks of a connection correctly. */
async function answering(reply: string): Promise<string> {
  const proofs: Readonly<Record<string, string>> = {
    config: "*2\r\n$16\r\nmaxmemory-policy\r\n$10\r\nnoeviction\r\n",
    info: "$10\r\nrun_id:abc\r\n",
    evalsha: reply,
  };
  server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
    socket.on("data", (chunk: Buffer) => {
      for (const [, command = ""] of chunk.toString().matchAll(/\*\d+\r\n\$\d+\r\n(\w+)\r\n/g))
        socket.write(proofs[command.toLowerCase()] ?? "+OK\r\n");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return `redis://127.0.0.1:${address.port}`;
}
