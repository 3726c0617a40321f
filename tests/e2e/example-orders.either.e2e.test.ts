import { once } from "node:events";
import { type Server } from "node:http";
import { type AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it, jest } from "@jest/globals";
import { type Order, orderWorkflows, type Shop } from "@posthaste/examples";
import { Client as Qstash } from "@upstash/qstash";
import { Client } from "@upstash/workflow";
import { serveMany } from "@upstash/workflow/express";
import express from "express";
import { eventually, isFilled, includes } from "./client.ts";
import { Destination } from "./destination.ts";
import { developmentToken } from "./server-process.ts";
import { startServer, type TestServer } from "./server.ts";

let server: TestServer;
let carrier: Destination;
let app: Server;
let client: Client;
let orderUrl: string;
const done: string[] = [];

beforeAll(async () => {
  jest.spyOn(console, "error").mockImplementation(() => undefined);
  server = await startServer();
  carrier = await Destination.start();
  carrier.answers("/labels", (_, response) => response.end("label-1"));
  const settings = { baseUrl: `http://127.0.0.1:${server.port}`, token: developmentToken };
  client = new Client(settings);
  const workflows = orderWorkflows(shopOf(carrier.url("")), 1);
  app = express()
    .use(express.json())
    .use("/workflows", serveMany(workflows, { qstashClient: new Qstash(settings) }))
    .listen(0, "127.0.0.1");
  await once(app, "listening");
  orderUrl = `http://127.0.0.1:${(app.address() as AddressInfo).port}/workflows/order`;
});
afterAll(async () => {
  app.closeAllConnections();
  app.close();
  await carrier.stop();
  await server.stop();
});

const shopOf = (carrierUrl: string): Shop => ({
  reserve: async ({ id, items }) => (items.includes("moon") ? null : said(`reserve ${id}`)),
  release: async (id) => void said(`release ${id}`),
  charge: async ({ id }) => said(`charge ${id}`),
  isFraud: async ({ cents }) => cents > 1_000_000,
  carrierUrl,
});

function said(what: string): string {
  done.push(what);
  return what;
}

const trigger = (order: Order) => client.trigger({ url: orderUrl, body: order });
const runOf = async (id: string) => (await client.logs({ filter: { workflowRunId: id } })).runs[0];
const ended = (id: string, state: string) =>
  eventually(
    () => runOf(id),
    (run) => run?.workflowState === state,
  );

it("is paid, packed, delivered and reported, each step once", async () => {
  const sendFrom = Math.ceil(Date.now() / 1_000);
  const { workflowRunId } = await trigger({ id: "1", cents: 4_200, items: ["lamp"], sendFrom });
  const [asked] = await carrier.arrivals("/labels");
  const { tell } = JSON.parse(String(asked?.body)) as { tell: string };
  await eventually(() => client.getWaiters({ eventId: "packed:1" }), isFilled);
  await client.notify({ eventId: "packed:1", eventData: "box 7" });
  await fetch(tell, { method: "POST", body: "the neighbour" });

  const run = await ended(workflowRunId, "RUN_SUCCESS");

  expect(JSON.parse(run?.workflowRunResponse ?? "")).toEqual({
    payment: "charge 1",
    label: "label-1",
    invoice: "invoice-1",
    signedBy: "the neighbour",
  });
  expect(done.filter((what) => what.endsWith(" 1")).toSorted()).toEqual(["charge 1", "reserve 1"]);
});

it("of a missing item is cancelled without any further step", async () => {
  const { workflowRunId } = await trigger({ id: "3", cents: 4_200, items: ["moon"] });

  await ended(workflowRunId, "RUN_CANCELED");

  expect(done.filter((what) => what.endsWith(" 3"))).toEqual([]);
});

it("found to be fraud fails without a retry, and returns its items to the stock", async () => {
  const { workflowRunId } = await trigger({ id: "2", cents: 2_000_000, items: ["car"] });

  await ended(workflowRunId, "RUN_FAILED");
  await eventually(async () => done, includes("release 2"));

  expect(done.filter((what) => what.endsWith(" 2")).toSorted()).toEqual([
    "charge 2",
    "release 2",
    "reserve 2",
  ]);
});
