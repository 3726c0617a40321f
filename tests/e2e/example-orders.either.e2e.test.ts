import { beforeAll, expect, it } from "@jest/globals";
import { type Order, orderWorkflows, type Shop } from "@posthaste/examples";
import { serveMany } from "@upstash/workflow/express";
import { eventually, isFilled, includes } from "./client.ts";
import {
  client,
  inState as ended,
  listening,
  qstashClient,
  startBeforeTests,
  third as carrier,
} from "./workflow-clients.ts";

let orderUrl: string;
const done: string[] = [];

startBeforeTests();
beforeAll(async () => {
  carrier.answers("/labels", (_, response) => response.end("label-1"));
  const workflows = orderWorkflows(shopOf(carrier.url("")), 1);
  orderUrl = `${(await listening(serveMany(workflows, { qstashClient }))).url}/order`;
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
