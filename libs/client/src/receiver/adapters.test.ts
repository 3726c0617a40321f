import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  request,
  type RequestListener,
  type Server,
} from "node:http";
import { type AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "@jest/globals";
import express from "express";
import { expressHandler, fetchHandler, nodeHandler } from "./adapters.ts";
import { createReceiver } from "./receiver.ts";
import { delivery, keys, now } from "./signed.fixture.ts";

const bodyBytesMax = 1_000;
const receiver = createReceiver(
  ({ messageId, text }) =>
    text() === "nothing" ? { status: 204, body: "dropped" } : { body: `${messageId}: ${text()}` },
  { keys, seen: false, now: () => now, bodyBytesMax },
);

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function served(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  servers.push(server);
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/in`;
}

const post = (url: string, { headers, body }: Awaited<ReturnType<typeof delivery>>) =>
  fetch(url, { method: "POST", headers, body: Buffer.from(body) });

type Ask = (given: Awaited<ReturnType<typeof delivery>>) => Promise<Response>;
const ofNode: Ask = async (given) => post(await served(nodeHandler(receiver)), given);
const ofExpress: Ask = async (given) => {
  const app = express().post("/in", expressHandler(receiver));
  return post(await served(app), given);
};
const ofRawExpress: Ask = async (given) => {
  const app = express().use(express.raw({ type: () => true }));
  return post(await served(app.post("/in", expressHandler(receiver))), given);
};
const ofFetch: Ask = ({ headers, body }) =>
  fetchHandler(receiver)(
    new Request("https://a.example/in", { method: "POST", headers, body: Buffer.from(body) }),
  );

describe.each([
  ["node:http", ofNode],
  ["express", ofExpress],
  ["express behind express.raw", ofRawExpress],
  ["fetch", ofFetch],
])("a receiver in %s", (_, ask) => {
  it("gets a delivery as it was sent, and its answer is sent back", async () => {
    const answer = await ask(await delivery("grüße"));

    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe("msg_1: grüße");
  });

  it("gets one without a body, and may answer without one", async () => {
    expect(await (await ask(await delivery(""))).text()).toBe("msg_1: ");
    expect((await ask(await delivery("nothing"))).status).toBe(204);
  });

  it("refuses an unsigned request, and a body that is too large", async () => {
    expect((await ask(await delivery("x", { key: "other" }))).status).toBe(401);
    expect((await ask(await delivery("x".repeat(bodyBytesMax + 1)))).status).toBe(413);
  });
});

it("a body that is too large is refused before its end", async () => {
  const sent = request(await served(nodeHandler(receiver)), { method: "POST" });
  sent.write("x".repeat(bodyBytesMax + 1));

  const [answer] = (await once(sent, "response")) as [IncomingMessage];

  expect(answer.statusCode).toBe(413);
  sent.destroy();
});

it("a receiver behind a parser of bodies says that it cannot verify", async () => {
  const problems: unknown[] = [];
  const app = express()
    .use(express.json())
    .post("/in", expressHandler(receiver))
    .use(((problem: unknown, _request, response, _next) => {
      problems.push(problem);
      response.status(500).end();
    }) as express.ErrorRequestHandler);
  const { headers, body } = await delivery("{}");
  const url = await served(app);

  const answer = await post(url, {
    headers: { ...headers, "content-type": "application/json" },
    body,
  });

  expect(answer.status).toBe(500);
  expect(problems).toEqual([
    new Error("the body has been parsed: a receiver must stand before express.json()"),
  ]);
});
