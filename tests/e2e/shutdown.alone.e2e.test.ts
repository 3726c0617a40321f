/** Tests stopping and starting again (docs/design/outages#stopping): nothing is lost, and without a fault nothing is repeated. */
import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { Client, eventually, includes, equals } from "./client.ts";
import { startAlone, type AloneServer } from "./alone.ts";
import { always, Destination, failing, type Responder } from "./destination.ts";
import { service } from "./dialects.ts";
import { numberOf, textOf } from "./json.ts";
import { secondUser } from "./users.ts";

/** From ready to delivered, for messages handed back or due meanwhile. */
const atOnceMsMax = 20_000;
/** The longest time to a record's next alarm (docs/design/record#the-alarm). */
const alarmMsMax = 30_000;

const start = (settings: Record<string, string> = {}): Promise<AloneServer> =>
  startAlone({ env: { POSTHASTE_LOG_LEVEL: "info", ...settings } });

let shared: AloneServer;
let server: AloneServer;
let client: Client;
let destination: Destination;

beforeAll(async () => {
  shared = await start();
});
beforeEach(async () => {
  destination = await Destination.start();
  use(shared);
});
afterEach(async () => {
  await destination.stop();
  if (server !== shared) await server.stop();
});
afterAll(() => shared.stop());

function use(one: AloneServer): void {
  server = one;
  client = one.client;
}

const serve = async (settings: Record<string, string>): Promise<void> => use(await start(settings));

/** Returns a function that returns the output of the process from now on. */
function printing(): () => string {
  const { length } = server.process.output;
  return () => server.process.output.slice(length);
}

const publishMany = (count: number, path: string): Promise<readonly string[]> =>
  Promise.all(Array.from({ length: count }, () => client.published(destination.url(path))));

const after =
  (ms: number): Responder =>
  (_, response) =>
    void setTimeout(() => response.end(), ms);

/** Answers all but the first arrivals. */
const hangingFirst =
  (count: number): Responder =>
  (_, response, nth) => {
    if (nth >= count) response.end();
  };

/** Stops the process by a signal, and starts it again. Returns its exit code. */
async function restarted(): Promise<number | null> {
  server.process.signal("SIGTERM");
  const code = await server.process.ended();
  await server.process.start();
  return code;
}

async function killedAndStarted(): Promise<void> {
  await server.process.kill();
  await server.process.start();
}

describe("SIGTERM", () => {
  it("lets fifty slow deliveries end, exits with 0, and repeats none of them afterwards", async () => {
    const printed = printing();
    destination.answers("/slow", after(1_500));
    const ids = await publishMany(50, "/slow");
    await destination.arrivals("/slow", 50);

    const code = await restarted();
    await client.published(destination.url("/after"), service({ Delay: "2s" }));
    await destination.arrival("/after");

    expect(code).toBe(0);
    expect(printed()).toContain("process.stopped");
    const delivered = destination.at("/slow").map(({ headers }) => headers["service-message-id"]);
    expect(delivered.toSorted()).toEqual(ids.toSorted());
    const url = encodeURIComponent(destination.url("/slow"));
    const events = await client.listed(`/v2/events?state=DELIVERED&url=${url}`, "events");
    expect(events).toHaveLength(50);
  });

  it("accepts nothing while it drains, and delivers accepted messages after the next start", async () => {
    destination.answers("/slow", after(1_500));
    const held = await client.published(destination.url("/held"), service({ Delay: "1s" }));
    await publishMany(5, "/slow");
    await destination.arrivals("/slow", 5);

    server.process.signal("SIGTERM");
    await eventually(
      () =>
        client.get("/readyz").then(
          ({ status }) => status,
          () => 0,
        ),
      (status) => status !== 200,
      1_000,
    );
    const refused = await client.publish(destination.url("/late")).then(
      ({ status }) => status,
      () => 0,
    );
    expect(await server.process.ended()).toBe(0);
    await server.process.start();

    const { headers } = await destination.arrival("/held", 20_000);
    expect(headers["service-message-id"]).toBe(held);
    expect(refused).not.toBe(200);
    expect(destination.at("/late")).toEqual([]);
  });

  it("without time to drain hands attempts back, and they are repeated at once after the next start", async () => {
    await serve({ POSTHASTE_DRAIN_SECONDS: "0" });
    destination.answers("/hangs", hangingFirst(50));
    const ids = await publishMany(50, "/hangs");
    await destination.arrivals("/hangs", 50);

    const code = await restarted();
    const readyAt = Date.now();
    const arrivals = (await destination.arrivals("/hangs", 100)).slice(50);

    expect(code).toBe(0);
    expect(arrivals.map(({ headers }) => headers["service-message-id"]).toSorted()).toEqual(
      ids.toSorted(),
    );
    expect(Math.max(...arrivals.map(({ at }) => at)) - readyAt).toBeLessThan(atOnceMsMax);
    // No attempt was counted, since there was no answer.
    expect(new Set(arrivals.map(({ headers }) => headers["service-retried"]))).toEqual(
      new Set(["0"]),
    );
  });

  it("ends requests that wait for events, with the cursor to continue with after the next start", async () => {
    const path = "/v2/events?wait=60&label=after";
    const begun = textOf((await client.get(path)).object()["cursor"]);
    const waiting = client.get(`${path}&cursor=${begun}`);
    // The server has read the request before it answers this one.
    await client.published(destination.url("/other"));

    server.process.signal("SIGTERM");
    const answered = await waiting;
    const code = await server.process.ended();
    await server.process.start();
    await client.published(destination.url("/after"), service({ Label: "after" }));
    const cursor = textOf(answered.object()["cursor"]);
    const went = await client.get(`${path}&cursor=${cursor}`);

    expect([answered.status, answered.list("events"), code]).toEqual([200, [], 0]);
    expect(went.list("events")[0]).toMatchObject({ state: "CREATED" });
  });

  it("a second time ends the process at once", async () => {
    const printed = printing();
    destination.answers("/hangs", hangingFirst(1));
    await client.published(destination.url("/hangs"));
    await destination.arrival("/hangs");

    server.process.signal("SIGTERM");
    await eventually(async () => printed(), includes("process.stopping"));
    const code = await restarted();

    expect(code).toBe(1);
    expect(printed()).toMatch(/process\.killed.*second signal/);
    // This process holds the directory's lock, so no other can have the claim, and no lease is awaited.
    await destination.arrivals("/hangs", 2, atOnceMsMax);
  });
});

describe("kill -9", () => {
  it("leaves attempts that are repeated at once after the next start, under their numbers", async () => {
    destination.answers("/killed", hangingFirst(20));
    const ids = await publishMany(20, "/killed");
    await destination.arrivals("/killed", 20);

    await killedAndStarted();
    const readyAt = Date.now();

    const arrivals = (await destination.arrivals("/killed", 40)).slice(20);
    expect(arrivals.map(({ headers }) => headers["service-message-id"]).toSorted()).toEqual(
      ids.toSorted(),
    );
    expect(Math.max(...arrivals.map(({ at }) => at)) - readyAt).toBeLessThan(atOnceMsMax);
    expect(new Set(arrivals.map(({ headers }) => headers["service-retried"]))).toEqual(
      new Set(["0"]),
    );
  });

  it("loses nothing that was acknowledged just before", async () => {
    const accepted: string[] = [];
    const publishing = Array.from({ length: 20 }, async (_, lane) => {
      for (let n = 0; ; n++) {
        const path = `/busy/${lane}/${n}`;
        const status = await client.publish(destination.url(path)).then(
          (reply) => reply.status,
          () => 0,
        );
        if (status !== 200) return;
        accepted.push(path);
      }
    });
    await eventually(
      async () => accepted.length,
      (count) => count > 300,
    );

    await server.process.kill();
    await Promise.all(publishing);
    await server.process.start();

    const missing = (): readonly string[] =>
      accepted.filter((path) => destination.at(path).length === 0);
    await destination.until(
      () => missing().length === 0,
      10_000,
      () => `missing: ${missing().join(" ")}`,
    );
  });

  it("right at the answer finds the message stored, even a large one", async () => {
    const body = randomBytes(9 * 1024 * 1024);

    for (const round of [1, 2, 3]) {
      await client.published(destination.url(`/moment/${round}`), service({ Delay: "1s" }), body);
      await killedAndStarted();
    }

    for (const round of [1, 2, 3]) {
      const arrival = await destination.arrival(`/moment/${round}`);
      expect(arrival.body.equals(body)).toBe(true);
    }
  });

  it("lets an interrupted publish make one message when it is repeated with its deduplication id", async () => {
    const publishOnce = async (n: number): Promise<string> => {
      for (;;) {
        const once = service({ "Deduplication-Id": `once-${n}` });
        const reply = await client
          .publish(destination.url(`/once/${n}`), once)
          .catch(() => undefined);
        if (reply?.status === 200 || reply?.status === 202)
          return textOf(reply.object()["messageId"]);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    // All are under way at the kill. A caller without an answer asks again.
    const publishing = Array.from({ length: 200 }, (_, n) => publishOnce(n));
    await Promise.race(publishing);

    await killedAndStarted();
    const ids = await Promise.all(publishing);

    for (const [n, id] of ids.entries()) {
      const arrivals = await destination.arrivals(`/once/${n}`);
      const arrived = new Set(arrivals.map(({ headers }) => headers["service-message-id"]));
      expect(arrived).toEqual(new Set([id]));
    }
  });

  it("delivers messages that fell due meanwhile at once after the next start: delays, retries and lanes", async () => {
    destination.answers("/retried", failing(1));
    destination.answers("/lane", hangingFirst(1));
    const flow = service({ "Flow-Control-Key": "k", "Flow-Control-Value": "parallelism=1" });
    await client.published(destination.url("/delayed"), service({ Delay: "1s" }));
    await client.published(destination.url("/retried"), service({ "Retry-Delay": "1000" }));
    for (let i = 0; i < 3; i++) await client.published(destination.url("/lane"), flow);
    await destination.arrivals("/retried", 1);
    await destination.arrivals("/lane", 1);

    await killedAndStarted();
    const readyAt = Date.now();

    await destination.arrival("/delayed", 20_000);
    await destination.arrivals("/retried", 2, 20_000);
    await destination.arrivals("/lane", 4, 20_000);
    expect(Date.now() - readyAt).toBeLessThan(1_000 + atOnceMsMax);
  });

  it("delivers accepted messages whose attempts had not begun, each once: a backlog, and those of a removed group", async () => {
    // Ten attempts run. The killed process had the hints of the rest.
    await serve({ POSTHASTE_MAX_PER_ORIGIN: "10" });
    const hanging = hangingFirst(10);
    destination.answers("/first", hanging);
    const paths = Array.from({ length: 3_000 }, (_, i) => `/group/${i}`);
    const endpoints = paths.map((path) => ({ url: destination.url(path) }));
    await client.postJson("/v2/topics/group/endpoints", { endpoints });
    await publishMany(10, "/first");
    await destination.arrivals("/first", 10);
    await publishMany(50, "/backlog");
    await client.publish("group");
    await client.delete("/v2/topics/group");

    await killedAndStarted();

    const arrived = (): number => paths.filter((path) => destination.at(path).length > 0).length;
    await destination.arrivals("/backlog", 50);
    // The publish to the group may have rung just before. Then it rings again with its next alarm.
    const msMax = alarmMsMax + 90_000;
    await destination.until(
      () => arrived() === 3_000,
      msMax,
      () => `${arrived()} of 3000`,
    );
    expect(destination.at("/backlog")).toHaveLength(50);
    expect(paths.every((path) => destination.at(path).length === 1)).toBe(true);
  }, 240_000);

  it("keeps deduplication windows, groups, dead letters, the log, cancellations and cursors", async () => {
    client = new Client(server.port, secondUser.token);
    destination.answers("/fails", always(500));
    const once = service({ "Deduplication-Id": "once" });
    const first = await client.published(destination.url("/once"), once);
    const endpoints = JSON.stringify({ endpoints: [{ url: destination.url("/g"), name: "g" }] });
    await client.post("/v2/topics/kept/endpoints", {}, endpoints);
    await client.published(destination.url("/fails"), service({ Retries: "0" }), "x");
    await eventually(async () => (await client.listed("/v2/dlq", "messages")).length, equals(1));
    const canceled = await client.published(destination.url("/canceled"), service({ Delay: "1s" }));
    await client.delete(`/v2/messages/${canceled}`);
    const [page, letters, group] = await reads();
    const cursor = String(page?.object()["cursor"]);

    await killedAndStarted();

    const again = await client.publish(destination.url("/once"), once);
    expect(again.status).toBe(202);
    expect(again.object()).toMatchObject({ messageId: first, deduplicated: true });
    const [pageAfter, lettersAfter, groupAfter] = await reads();
    expect(pageAfter?.list("events")).toEqual(page?.list("events"));
    expect(lettersAfter?.json()).toEqual(letters?.json());
    expect(groupAfter?.json()).toEqual(group?.json());
    expect((await client.get(`/v2/events?count=2&cursor=${cursor}`)).status).toBe(200);
    await client.published(destination.url("/after"), service({ Delay: "1s" }));
    await destination.arrival("/after");
    expect(destination.at("/canceled")).toEqual([]);
    expect(destination.at("/once")).toHaveLength(1);
  });

  it("begins no new period of a rate", async () => {
    const flow = service({ "Flow-Control-Key": "r", "Flow-Control-Value": "rate=5, period=8s" });
    const publishedAt = Date.now();
    await Promise.all(
      Array.from({ length: 10 }, () => client.published(destination.url("/rate"), flow)),
    );
    await destination.arrivals("/rate", 5);

    await killedAndStarted();

    const arrivals = await destination.arrivals("/rate", 10, 60_000);
    // The window begins with the first dispatch: after its publish, and before its arrival, however late that is.
    expect(numberOf(arrivals[5]?.at) - publishedAt).toBeGreaterThanOrEqual(8_000);
  });
});

const reads = () =>
  Promise.all(["/v2/events?count=2", "/v2/dlq", "/v2/topics/kept"].map((path) => client.get(path)));
