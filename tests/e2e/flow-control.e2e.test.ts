/** Tests flow control (docs/design/lanes#slots-and-rates) as the destination sees it: never more at once, never more per period. */
import { type ServerResponse } from "node:http";
import { describe, expect, it } from "@jest/globals";
import { type Arrival, failing } from "./destination.ts";
import { dialects, inDialect, service } from "./dialects.ts";
import { client, destination, other, startBeforeTests } from "./suite.ts";

startBeforeTests();

/** In the distributed shape, the rate uses the store's clock. */
const clocksApartMs = 50;

const flow = (key: string, value: string, prefix = "Service-") =>
  inDialect(prefix, { "Flow-Control-Key": key, "Flow-Control-Value": value });

/** Holds arrivals until calls of enough keys are there at once, and answers from then on. */
class Meeting {
  readonly #wanted: number;
  readonly #there = new Set<string>();
  readonly #held: (() => void)[] = [];

  constructor(wanted: number) {
    this.#wanted = wanted;
  }

  isHere(key: string, answer: () => void): void {
    this.#there.add(key);
    this.#held.push(answer);
    if (this.#there.size >= this.#wanted) for (const each of this.#held.splice(0)) each();
  }
}

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
  it("a key's parallelism is never exceeded over two hundred messages, and is reached", async () => {
    const path = `/${prefix}parallel`;
    const gauge = new Gauge();
    destination.answers(path, gauge.answers(20));

    await publishMany(200, destination.url(path), flow(`${prefix}p`, "parallelism=4", prefix));

    await destination.arrivals(path, 200, 60_000);
    expect(gauge.most).toBe(4);
    expect(destination.at(path)).toHaveLength(200);
  });

  it("a key's rate is never exceeded in a period, counted from the first delivery, and is reached", async () => {
    const path = `/${prefix}rate`;
    const rate = 20;
    const publishedAt = Date.now();

    await publishMany(
      80,
      destination.url(path),
      flow(`${prefix}r`, `rate=${rate}, period=1s`, prefix),
    );

    const arrivals = await destination.arrivals(path, 80, 60_000);
    // The windows begin with the first dispatch: after its publish, and before its arrival, however late that is.
    arrivals.forEach(({ at }, nth) => {
      const windowsBefore = Math.floor(nth / rate);
      expect(at - publishedAt).toBeGreaterThanOrEqual(windowsBefore * 1_000 - clocksApartMs);
    });
  });
});

describe("flow control", () => {
  it("counts one key over several destinations, and each of several keys by itself", async () => {
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

  it("applies the last published values, also to messages that already wait", async () => {
    const gauge = new Gauge();
    // Long enough for six slots to be granted, however slow grants are.
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

  it("lowers a limit once earlier grants have ended", async () => {
    const gauge = new Gauge();
    const held: (() => void)[] = [];
    let isLowered = false;
    destination.answers("/lowered", (arrival, response) => {
      const answer = () => gauge.answers(40)(arrival, response);
      if (isLowered) answer();
      else held.push(answer);
    });
    const url = destination.url("/lowered");
    await publishMany(40, url, flow("lowered", "parallelism=8"));
    await destination.arrivals("/lowered", 8);

    await publishMany(1, url, flow("lowered", "parallelism=2"));
    isLowered = true;
    for (const answer of held) answer();
    // Earlier grants end first, then the new limit applies.
    await destination.arrivals("/lowered", 16);
    gauge.most = 0;
    await destination.arrivals("/lowered", 41, 60_000);

    expect(gauge.most).toBeLessThanOrEqual(2);
  });

  it("serves a hundred keys at once, each with one message at a time", async () => {
    const keys = Array.from({ length: 100 }, (_, i) => ({ key: `many/${i}`, gauge: new Gauge() }));
    const meeting = new Meeting(50);
    for (const { key, gauge } of keys) {
      const answer = gauge.answers(50);
      destination.answers(`/${key}`, (arrival, response) =>
        meeting.isHere(key, () => answer(arrival, response)),
      );
    }

    await Promise.all(
      keys.map(({ key }) => publishMany(3, destination.url(`/${key}`), flow(key, "parallelism=1"))),
    );

    for (const { key } of keys) await destination.arrivals(`/${key}`, 3);
    expect(new Set(keys.map(({ gauge }) => gauge.most))).toEqual(new Set([1]));
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

  it("counts a callback with a key of its own as it counts any message", async () => {
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
});

const stands = async (key: string) =>
  (await client.get(`/v2/flowControl/${encodeURIComponent(key)}`)).object();
const byHand = (key: string, verb: string) =>
  client.post(`/v2/flowControl/${encodeURIComponent(key)}/${verb}`);

describe("a flow key managed by hand", () => {
  it("200 shows every field right after the publish that named the key", async () => {
    const key = "read me/50% there";
    destination.answers("/read-key", () => undefined);
    await publishMany(
      3,
      destination.url("/read-key"),
      flow(key, "parallelism=2, rate=9, period=1m"),
    );
    const [, second] = await destination.arrivals("/read-key", 2);

    expect(second).toBeDefined();
    expect(await stands(key)).toEqual({
      flowControlKey: key,
      waitListSize: 1,
      parallelismMax: 2,
      parallelismCount: 2,
      rateMax: 9,
      rateCount: 2,
      ratePeriod: 60,
      ratePeriodStart: expect.any(Number),
      isPaused: false,
      isPinnedParallelism: false,
      isPinnedRate: false,
    });
  });

  it("200 delivers nothing while it is paused, and everything once it is resumed", async () => {
    const key = "paused/by hand";
    expect((await byHand(key, "pause")).status).toBe(200);
    await publishMany(3, destination.url("/paused"), flow(key, "parallelism=5"));
    // Another key's deliveries show that the schedulers work meanwhile.
    await publishMany(3, destination.url("/unpaused"), flow("unpaused", "parallelism=5"));
    await destination.arrivals("/unpaused", 3);

    expect(await stands(key)).toMatchObject({ isPaused: true, waitListSize: 3 });
    expect(destination.at("/paused")).toHaveLength(0);
    expect((await byHand(key, "resume")).status).toBe(200);
    await destination.arrivals("/paused", 3);
    expect(await stands(key)).toMatchObject({ isPaused: false, waitListSize: 0 });
  });

  it("200 is listed by a text in its name, for its tenant alone", async () => {
    for (const key of ["listed-b", "listed-a"]) await byHand(key, "pause");
    await other.post("/v2/flowControl/listed-c/pause");

    const found = (await client.get("/v2/flowControl?search=listed-")).list();

    expect(found.map(({ flowControlKey }) => flowControlKey)).toEqual(["listed-a", "listed-b"]);
    expect((await client.get("/v2/flowControl/listed-c")).status).toBe(404);
  });

  it("200 keeps a pinned limit whatever publishes say, until it is unpinned", async () => {
    const key = "pinned";
    const gauge = new Gauge();
    destination.answers("/pinned", gauge.answers(20));
    expect((await byHand(key, "pin?parallelism=1&rate=1000&period=7")).status).toBe(200);

    await publishMany(10, destination.url("/pinned"), flow(key, "parallelism=5, rate=9"));
    await destination.arrivals("/pinned", 10);

    expect(gauge.most).toBe(1);
    const pinned = { parallelismMax: 1, rateMax: 1000, ratePeriod: 7 };
    const pins = { isPinnedParallelism: true, isPinnedRate: true };
    expect(await stands(key)).toMatchObject({ ...pinned, ...pins });
    expect((await byHand(key, "unpin?parallelism=true")).status).toBe(200);
    expect(await stands(key)).toMatchObject({ ...pinned, ...pins, isPinnedParallelism: false });
    await publishMany(1, destination.url("/pinned"), flow(key, "parallelism=5, rate=9"));
    expect(await stands(key)).toMatchObject({ ...pinned, parallelismMax: 5, isPinnedRate: true });
  });

  it.each(["resetRate", "reset"])(
    "200 %s releases messages that wait for the next period",
    async (verb) => {
      const [key, path] = [verb, `/${verb}`];
      await publishMany(4, destination.url(path), flow(key, "rate=2, period=1h"));
      await destination.arrivals(path, 2);
      expect(await stands(key)).toMatchObject({ rateCount: 2, waitListSize: 2 });

      expect((await byHand(key, verb)).status).toBe(200);

      await destination.arrivals(path, 4);
      expect(await stands(key)).toMatchObject({ rateCount: 2, waitListSize: 0 });
    },
  );

  it("400 for a pin or unpin of nothing, and for values that no publish could have", async () => {
    const bad = ["pin", "pin?period=5", "pin?parallelism=0", "pin?rate=x", "pin?rate=1&period=0"];
    const none = ["unpin", "unpin?rate=false", "unpin?rate=1"];
    for (const verb of [...bad, ...none])
      expect({ verb, status: (await byHand("nothing", verb)).status }).toEqual({
        verb,
        status: 400,
      });
    expect((await client.get("/v2/flowControl/nothing")).status).toBe(404);
  });

  it("404 for an unpin of a key that was never used", async () => {
    expect((await byHand("unheard-of", "unpin?rate=true")).status).toBe(404);
  });

  it("400 for a name that no key can have, and for an unknown parameter", async () => {
    expect((await client.post(`/v2/flowControl/${"k".repeat(513)}/pause`)).status).toBe(400);
    expect((await client.post("/v2/flowControl/%C3%BC/pause")).status).toBe(400);
    expect((await client.post("/v2/flowControl/%20key/pause")).status).toBe(400);
    expect((await client.get("/v2/flowControl?serch=a")).error()).toContain("serch");
  });

  it("404 for a key that was never used", async () => {
    expect((await client.get("/v2/flowControl/unheard-of")).status).toBe(404);
  });
});
