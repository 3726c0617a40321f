/** Flow control (protocol/qstash.md §4.4), as the destination sees it: never more at once, never more per period. */
import { type ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { Client } from "./client.ts";
import { startServer, type TestServer } from "./server.ts";
import { type Arrival, Destination, failing } from "./destination.ts";
import { dialects, inDialect, service } from "./dialects.ts";
import { secondUser } from "./users.ts";

let server: TestServer;
let client: Client;
let destination: Destination;

beforeAll(async () => {
  server = await startServer();
  client = server.client;
  destination = await Destination.start();
});
afterAll(async () => {
  await destination.stop();
  await server.stop();
});

const flow = (key: string, value: string, prefix = "Service-") =>
  inDialect(prefix, { "Flow-Control-Key": key, "Flow-Control-Value": value });

/** Answers after `ms`, and counts how many it has at a time. */
class Gauge {
  running = 0;
  most = 0;

  answers(ms: number) {
    return (_: Arrival, response: ServerResponse): void => {
      this.most = Math.max(this.most, ++this.running);
      setTimeout(() => {
        this.running -= 1;
        response.end();
      }, ms);
    };
  }
}

const publishMany = (
  count: number,
  url: string,
  headers: Record<string, string | readonly string[]>,
): Promise<readonly string[]> =>
  Promise.all(Array.from({ length: count }, () => client.published(url, headers)));

describe.each(dialects)("in the $prefix dialect", ({ prefix }) => {
  it("a key's parallelism holds for two hundred messages, and is used", async () => {
    const path = `/${prefix}parallel`;
    const gauge = new Gauge();
    destination.answers(path, gauge.answers(20));

    await publishMany(200, destination.url(path), flow(`${prefix}p`, "parallelism=4", prefix));

    await destination.arrivals(path, 200, 60_000);
    expect(gauge.most).toBe(4);
    expect(destination.at(path)).toHaveLength(200);
  });

  it("a key's rate holds for each period, counted from the first delivery, and is used", async () => {
    const path = `/${prefix}rate`;
    const rate = 20;

    await publishMany(
      80,
      destination.url(path),
      flow(`${prefix}r`, `rate=${rate}, period=1s`, prefix),
    );

    const arrivals = await destination.arrivals(path, 80, 60_000);
    const first = arrivals[0]?.at ?? 0;
    // The windows begin with the first dispatch, which is some milliseconds before its arrival.
    const slackMs = 500;
    arrivals.forEach(({ at }, nth) => {
      expect(at - first).toBeGreaterThanOrEqual(Math.floor(nth / rate) * 1_000 - slackMs);
    });
    expect((arrivals[79]?.at ?? 0) - first).toBeLessThan(15_000);
  });
});

describe("flow control", () => {
  it("keeps to both limits of a key that has both", async () => {
    const gauge = new Gauge();
    destination.answers("/both", gauge.answers(10));

    const limits = flow("both", "rate=10, period=1s, parallelism=2");
    await publishMany(25, destination.url("/both"), limits);

    const arrivals = await destination.arrivals("/both", 25, 60_000);
    const first = arrivals[0]?.at ?? 0;
    expect(gauge.most).toBe(2);
    expect((arrivals[10]?.at ?? 0) - first).toBeGreaterThanOrEqual(850);
    expect((arrivals[20]?.at ?? 0) - first).toBeGreaterThanOrEqual(1_850);
  });

  it("counts one key over several destinations, and several keys apart", async () => {
    const shared = new Gauge();
    const alone = new Gauge();
    for (const path of ["/u1", "/u2"]) destination.answers(path, shared.answers(100));
    destination.answers("/u3", alone.answers(100));

    await Promise.all([
      publishMany(15, destination.url("/u1"), flow("shared", "parallelism=1")),
      publishMany(15, destination.url("/u2"), flow("shared", "parallelism=1")),
      publishMany(15, destination.url("/u3"), flow("alone", "parallelism=3")),
    ]);

    await destination.arrivals("/u1", 15);
    await destination.arrivals("/u2", 15);
    await destination.arrivals("/u3", 15);
    expect({ shared: shared.most, alone: alone.most }).toEqual({ shared: 1, alone: 3 });
  });

  it("takes the last published values, also for those that already wait", async () => {
    const gauge = new Gauge();
    // Long enough for six slots to be granted, whatever a grant takes here.
    destination.answers("/changed", gauge.answers(250));
    const url = destination.url("/changed");

    await publishMany(60, url, flow("changed", "parallelism=1"));
    await destination.arrivals("/changed", 3);
    const before = gauge.most;
    await publishMany(1, url, flow("changed", "parallelism=6"));
    await destination.arrivals("/changed", 61, 60_000);

    expect(before).toBe(1);
    expect(gauge.most).toBe(6);
  });

  it("lowers a limit for what is still to come", async () => {
    const gauge = new Gauge();
    destination.answers("/lowered", gauge.answers(40));
    const url = destination.url("/lowered");
    await publishMany(40, url, flow("lowered", "parallelism=8"));

    await publishMany(1, url, flow("lowered", "parallelism=2"));
    // What was granted before ends, then the new limit counts.
    const lowered = destination.at("/lowered").length + 8;
    await destination.arrivals("/lowered", lowered);
    gauge.most = 0;
    await destination.arrivals("/lowered", 41, 60_000);

    expect(gauge.most).toBeLessThanOrEqual(2);
  });

  it("serves a hundred keys at once, each with one at a time", async () => {
    const keys = Array.from({ length: 100 }, (_, i) => ({ key: `many/${i}`, gauge: new Gauge() }));
    for (const { key, gauge } of keys) destination.answers(`/${key}`, gauge.answers(50));
    const before = Date.now();

    await Promise.all(
      keys.map(({ key }) => publishMany(3, destination.url(`/${key}`), flow(key, "parallelism=1"))),
    );

    for (const { key } of keys) await destination.arrivals(`/${key}`, 3);
    expect(new Set(keys.map(({ gauge }) => gauge.most))).toEqual(new Set([1]));
    // One after another, all keys would take 15 s.
    expect(Date.now() - before).toBeLessThan(10_000);
  });

  it("delivers in the order of publishing where one runs at a time", async () => {
    for (let n = 0; n < 30; n++) {
      await client.published(destination.url(`/order?n=${n}`), flow("order", "parallelism=1"));
    }

    const arrivals = await destination.arrivals("/order", 30);
    expect(arrivals.map(({ path }) => Number(path.split("=")[1]))).toEqual(
      Array.from({ length: 30 }, (_, n) => n),
    );
  });

  it("holds no slot while a message waits for its retry, and takes one for each attempt", async () => {
    const gauge = new Gauge();
    destination.answers("/retrying", failing(1));
    destination.answers("/others", gauge.answers(10));
    const key = flow("retrying", "parallelism=1");

    const settings = { ...key, ...service({ "Retry-Delay": "1500", Retries: "1" }) };
    await client.published(destination.url("/retrying"), settings);
    await destination.arrival("/retrying");
    await publishMany(5, destination.url("/others"), key);

    const others = await destination.arrivals("/others", 5);
    const [, retry] = await destination.arrivals("/retrying", 2);
    expect(retry?.at ?? 0).toBeGreaterThan(others[4]?.at ?? Infinity);
    expect(gauge.most).toBe(1);
  });

  it("gives the slot of a canceled message to the next at once", async () => {
    destination.answers("/stuck", () => undefined);
    const key = flow("stuck", "parallelism=1");
    const stuck = await client.published(destination.url("/stuck"), key);
    await destination.arrival("/stuck");
    await client.published(destination.url("/unstuck"), key);

    const canceled = await client.delete(`/v2/messages/${stuck}`);

    expect(canceled.status).toBe(202);
    await destination.arrival("/unstuck", 15_000);
  });

  it("counts a callback with a key of its own like any message", async () => {
    const gauge = new Gauge();
    destination.answers("/limited-callback", gauge.answers(20));
    const settings = service({
      Callback: destination.url("/limited-callback"),
      "Callback-Flow-Control-Key": "callbacks",
      "Callback-Flow-Control-Value": "parallelism=2",
    });

    await publishMany(20, destination.url("/unlimited"), settings);

    await destination.arrivals("/limited-callback", 20);
    expect(gauge.most).toBe(2);
  });

  it("does not share a key between tenants", async () => {
    destination.answers("/ours", () => undefined);
    const key = flow("tenants", "parallelism=1");
    const other = new Client(server.port, secondUser.token);

    await client.published(destination.url("/ours"), key);
    await destination.arrival("/ours");
    await other.published(destination.url("/theirs"), key);

    await destination.arrival("/theirs", 15_000);
  });
});
