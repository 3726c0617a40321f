/** Tests how a destination's answer ends an attempt (docs/design/delivery#retries): delivered, retried when, or failed. */
import { createServer, type Server } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { afterAll, describe, expect, it } from "@jest/globals";
import { eventually, isFilled } from "./client.ts";
import { expired, key, selfSigned, valid } from "../../libs/sender/src/test-certificates.ts";
import { always, type Arrival, deadUrl, failing, silent } from "./destination.ts";
import { dialects, inDialect, service } from "./dialects.ts";
import { type Json, numberOf } from "./json.ts";
import { listen } from "./loopback.ts";
import { client, destination, startBeforeTests } from "./suite.ts";

/** The time from a retry's due time to its arrival. Only a lost hint exceeds this, and rings after 30 s. */
const lateMsMax = 20_000;
/** The destination answers before the test has noted the time, by another reading of the clock. */
const roundingMs = 2;

startBeforeTests();

const gapsOf = (arrivals: readonly Arrival[]): readonly number[] =>
  arrivals.slice(1).map(({ at }, i) => at - (arrivals[i]?.at ?? 0));

const eventsOf = async (id: string): Promise<readonly Json[]> =>
  await client.listed(`/v2/events?messageId=${id}&order=earliestFirst`, "events");

const eventsUntil = (id: string, state: string): Promise<readonly Json[]> =>
  eventually(
    () => eventsOf(id),
    (events) => events.some((event) => event["state"] === state),
  );

const statesOf = (events: readonly Json[]): readonly unknown[] => events.map(({ state }) => state);

const plannedWaits = (events: readonly Json[]): readonly number[] =>
  events
    .filter(({ state }) => state === "RETRY")
    .map(({ time, nextDeliveryTime }) => numberOf(nextDeliveryTime) - numberOf(time));

const listeners: Server[] = [];
afterAll(() => listeners.forEach((listener) => listener.close()));

/** Listens as a server that is not a destination. Ends with the tests. */
function listening(listener: Server): Promise<number> {
  listeners.push(listener);
  return listen(listener);
}

/** Checks that the failure costs the message its only retry, as any failure of a destination does. */
async function failsTwice(url: string, reason: unknown): Promise<void> {
  const settings = service({ Retries: "1", "Retry-Delay": "10", Timeout: "1s" });
  const id = await client.published(url, settings);
  const events = await eventsUntil(id, "FAILED");
  const letters = await client.listed(`/v2/dlq?messageId=${id}`, "messages");
  const errors = events.flatMap(({ state, error }) => (state === "ERROR" ? [error] : []));
  expect(errors).toEqual([reason, reason]);
  expect(letters).toMatchObject([{ responseStatus: 0 }]);
}

describe.each(dialects)("a message in the $prefix dialect", ({ prefix }) => {
  const retried = (arrival: Arrival | undefined): unknown =>
    arrival?.headers[`${prefix}retried`.toLowerCase()];
  const path = (name: string): string => `/${prefix}${name}`;

  it("is delivered 1 + retries times when every attempt fails, and each attempt says how many came before", async () => {
    destination.answers(path("never"), always(500));
    const settings = inDialect(prefix, { Retries: "4", "Retry-Delay": "20" });

    const id = await client.published(destination.url(path("never")), settings, "same");

    const events = await eventsUntil(id, "FAILED");
    const arrivals = destination.at(path("never"));
    expect(arrivals.map(retried)).toEqual(["0", "1", "2", "3", "4"]);
    expect(new Set(arrivals.map(({ body }) => body.toString()))).toEqual(new Set(["same"]));
    const ids = arrivals.map(({ headers }) => headers[`${prefix}message-id`.toLowerCase()]);
    expect(new Set(ids)).toEqual(new Set([id]));
    const retry = ["ACTIVE", "ERROR", "RETRY"];
    expect(statesOf(events)).toEqual(
      ["CREATED", ...retry, ...retry, ...retry, ...retry].concat(["ACTIVE", "ERROR", "FAILED"]),
    );
  });

  it("fails at once with 489 and NonRetryable-Error, whatever retries are left", async () => {
    destination.answers(path("489"), (_, response) =>
      response.writeHead(489, { [`${prefix}NonRetryable-Error`]: "true" }).end("never again"),
    );
    const settings = inDialect(prefix, { Retries: "5", "Retry-Delay": "0" });

    const id = await client.published(destination.url(path("489")), settings);

    const events = await eventsUntil(id, "FAILED");
    expect(statesOf(events)).toEqual(["CREATED", "ACTIVE", "ERROR", "FAILED"]);
    expect(destination.at(path("489"))).toHaveLength(1);
    const letters = await client.listed(`/v2/dlq?messageId=${id}`, "messages");
    expect(letters).toMatchObject([{ responseStatus: 489, responseBody: "never again" }]);
  });
});

describe("retries", () => {
  it.each([200, 201, 204, 299])("do not follow a %i", async (status) => {
    destination.answers(`/${status}`, always(status));

    const id = await client.published(destination.url(`/${status}`));

    expect(statesOf(await eventsUntil(id, "DELIVERED"))).toEqual([
      "CREATED",
      "ACTIVE",
      "DELIVERED",
    ]);
  });

  it.each([
    ["a redirect", 302],
    ["Not Modified", 304],
    ["a client error", 400],
    ["Gone", 410],
    ["Too Many Requests", 429],
    ["489 without the header", 489],
    ["a server error", 503],
  ])("follow %s", async (_, status) => {
    destination.answers(`/then/${status}`, failing(1, status));
    const settings = service({ "Retry-Delay": "10" });

    const id = await client.published(destination.url(`/then/${status}`), settings);

    const events = await eventsUntil(id, "DELIVERED");
    expect(events.find(({ state }) => state === "ERROR")).toMatchObject({ responseStatus: status });
    expect(destination.at(`/then/${status}`)).toHaveLength(2);
  });

  it("repeat the same URL after a redirect: the Location is never visited", async () => {
    destination.answers("/moved", (_, response, nth) => {
      response.writeHead(nth === 0 ? 307 : 200, {
        Location: "/elsewhere",
        Refresh: "0;/elsewhere",
      });
      response.end();
    });

    await client.published(destination.url("/moved"), service({ "Retry-Delay": "10" }));

    await destination.arrivals("/moved", 2);
    expect(destination.at("/elsewhere")).toEqual([]);
  });

  it("wait as long as the expression says, for each retry", async () => {
    destination.answers("/gaps", failing(3));
    const settings = service({ "Retry-Delay": "max(100, pow(2, retried) * 150)", Retries: "3" });

    const id = await client.published(destination.url("/gaps"), settings);

    const arrivals = await destination.arrivals("/gaps", 4);
    const planned = [150, 300, 600];
    expect(plannedWaits(await eventsUntil(id, "DELIVERED"))).toEqual(planned);
    gapsOf(arrivals).forEach((gap, i) => {
      expect(gap).toBeGreaterThanOrEqual((planned[i] ?? 0) - roundingMs);
      expect(gap).toBeLessThan((planned[i] ?? 0) + lateMsMax);
    });
  });

  it("wait e^2.5 seconds and up to one more by default", async () => {
    destination.answers("/default", always(500));

    const id = await client.published(destination.url("/default"));

    const [wait] = plannedWaits(await eventsUntil(id, "RETRY"));
    expect(wait).toBeGreaterThanOrEqual(12_182);
    expect(wait).toBeLessThanOrEqual(13_183);
    expect((await client.delete(`/v2/messages/${id}`)).status).toBe(202);
  });

  const inTwoSeconds = (): string => new Date(Date.now() + 2_000).toUTCString();
  it.each([
    ["Retry-After: 0", () => ({ "Retry-After": "0" }), 0, 0],
    ["Retry-After in seconds", () => ({ "Retry-After": "1" }), 1_000, 1_000],
    ["Retry-After as a date", () => ({ "Retry-After": inTwoSeconds() }), 500, 2_000],
    ["Retry-After in the past", () => ({ "Retry-After": new Date(0).toUTCString() }), 0, 0],
    ["Retry-After as a duration", () => ({ "Retry-After": "1s20ms" }), 1_020, 1_020],
    ["X-RateLimit-Reset", () => ({ "X-RateLimit-Reset": "1" }), 1_000, 1_000],
    ["X-RateLimit-Reset-Requests", () => ({ "X-RateLimit-Reset-Requests": "60ms" }), 60, 60],
    ["X-RateLimit-Reset-Tokens", () => ({ "X-RateLimit-Reset-Tokens": "70ms" }), 70, 70],
    [
      "Retry-After before the others",
      () => ({ "X-RateLimit-Reset": "9", "Retry-After": "0" }),
      0,
      0,
    ],
  ])("come when the destination asks, by %s", async (name, headers, msMin, msMax) => {
    const path = `/asks/${encodeURIComponent(name)}`;
    destination.answers(path, (_, response, nth) =>
      response.writeHead(nth === 0 ? 429 : 200, headers()).end(),
    );

    const id = await client.published(destination.url(path), service({ "Retry-Delay": "9000" }));

    const [gap] = gapsOf(await destination.arrivals(path, 2));
    const [wait] = plannedWaits(await eventsUntil(id, "DELIVERED"));
    expect(wait).toBeGreaterThanOrEqual(msMin);
    expect(wait).toBeLessThanOrEqual(msMax);
    expect(gap).toBeGreaterThanOrEqual((wait ?? 0) - roundingMs);
    expect(gap).toBeLessThan((wait ?? 0) + lateMsMax);
  });

  it.each(["999999999", "-1", "soon", "1.5", "86401"])(
    "keep their own wait when Retry-After is %s",
    async (value) => {
      const path = `/nonsense/${value}`;
      destination.answers(path, (_, response, nth) =>
        response.writeHead(nth === 0 ? 503 : 200, { "Retry-After": value }).end(),
      );

      const id = await client.published(destination.url(path), service({ "Retry-Delay": "40" }));

      expect(plannedWaits(await eventsUntil(id, "DELIVERED"))).toEqual([40]);
    },
  );

  it("follow a connection that is refused or reset, with the reason in the log", async () => {
    destination.answers("/reset", ({ headers }, response, nth) => {
      if (nth > 0 && headers["service-retried"] === "1") response.end();
      else response.destroy();
    });
    const oneRetry = service({ "Retry-Delay": "10", Retries: "1" });

    const refused = await client.published(await deadUrl(), oneRetry);
    const reset = await client.published(destination.url("/reset"), oneRetry);

    const refusals = await eventsUntil(refused, "FAILED");
    const resets = await eventsUntil(reset, "DELIVERED");
    expect(refusals.filter(({ state }) => state === "ERROR")).toHaveLength(2);
    expect(refusals.find(({ state }) => state === "ERROR")?.["error"]).toMatch(/ECONNREFUSED/);
    expect(resets.find(({ state }) => state === "ERROR")?.["error"]).toMatch(/connection broke/);
    // The first attempt may have been made twice: a call on a kept connection that ends is repeated at once.
    const retried = destination.at("/reset").map(({ headers }) => headers["service-retried"]);
    expect(new Set(retried)).toEqual(new Set(["0", "1"]));
    const letters = await client.listed(`/v2/dlq?messageId=${refused}`, "messages");
    expect(letters).toMatchObject([{ responseStatus: 0 }]);
  });

  it.each([
    ["a certificate of its own making", selfSigned, "TLS failed: self-signed certificate"],
    [
      "a certificate of an authority that is not known",
      valid,
      "TLS failed: unable to verify the first certificate",
    ],
    ["a certificate that has ended", expired, "TLS failed: certificate has expired"],
  ])("follow %s, with the reason in the log", async (_, cert, reason) => {
    const port = await listening(createTlsServer({ cert, key }));

    await failsTwice(`https://127.0.0.1:${port}/`, reason);
  });

  it("follow plain text in answer to TLS, and TLS in answer to a plain request", async () => {
    const plain = `https://127.0.0.1:${destination.port}/plain`;
    const port = await listening(createTlsServer({ cert: selfSigned, key }));

    await Promise.all([
      failsTwice(plain, expect.stringMatching(/^TLS failed: /)),
      failsTwice(`http://127.0.0.1:${port}/`, expect.stringMatching(/not HTTP|connection broke/)),
    ]);
  });

  it("follow a handshake without an end, and other messages are delivered meanwhile", async () => {
    const port = await listening(createServer((socket) => void socket.on("error", () => {})));
    const hangs = failsTwice(`https://127.0.0.1:${port}/`, "no answer within 1000 ms");

    const id = await client.published(destination.url("/beside"));

    await destination.arrival("/beside");
    await eventsUntil(id, "DELIVERED");
    await hangs;
  });

  it("of none mean one attempt", async () => {
    destination.answers("/once", always(500));

    const id = await client.published(destination.url("/once"), service({ Retries: "0" }));

    await eventsUntil(id, "FAILED");
    expect(destination.at("/once")).toHaveLength(1);
  });
});

describe("a timeout", () => {
  const settings = service({ Timeout: "1s", Retries: "0" });
  const failedAfter = async (path: string): Promise<{ ms: number; error: unknown }> => {
    const id = await client.published(destination.url(path), settings);
    const events = await eventsUntil(id, "FAILED");
    const time = (wanted: string): number =>
      numberOf(events.find(({ state }) => state === wanted)?.["time"]);
    const error = events.find(({ state }) => state === "ERROR")?.["error"];
    return { ms: time("ERROR") - time("ACTIVE"), error };
  };

  it("ends an attempt that gets no answer", async () => {
    destination.answers("/hangs", silent);

    const { ms, error } = await failedAfter("/hangs");

    expect(error).toBe("no answer within 1000 ms");
    expect(ms).toBeGreaterThanOrEqual(1_000 - roundingMs);
    expect(ms).toBeLessThan(1_000 + lateMsMax);
  });

  it("counts from the connection, so that a byte now and then does not extend it", async () => {
    destination.answers("/trickles", (_, response) => {
      response.socket?.write("HTTP/1.1 200 OK\r\nX-Slow: ");
      const timer = setInterval(() => response.socket?.write("x"), 100);
      response.on("close", () => clearInterval(timer));
    });

    const { ms } = await failedAfter("/trickles");

    expect(ms).toBeGreaterThanOrEqual(1_000 - roundingMs);
    expect(ms).toBeLessThan(1_000 + lateMsMax);
  });

  it("in the middle of the body of a 2xx answer is no failure", async () => {
    destination.answers("/half", (_, response) => response.writeHead(200).write("half"));
    const halfTold = service({
      Timeout: "1s",
      Retries: "0",
      Callback: destination.url("/half-told"),
    });

    const id = await client.published(destination.url("/half"), halfTold);

    await eventsUntil(id, "DELIVERED");
    const told = await destination.arrival("/half-told");
    expect(told.body.toString()).toContain(`"body":"${Buffer.from("half").toString("base64")}"`);
  });
});

describe("a last answer that breaks off, redirects or is missing", () => {
  it("is named as such in log, dead letter and callback", async () => {
    destination.answers("/breaks", (_, response) => {
      response.writeHead(500, { "Content-Length": "10" }).write("half", () => response.destroy());
    });
    destination.answers("/moved-away", (_, response) =>
      response.writeHead(301, { Location: "https://new.example/there?key=secret" }).end(),
    );
    const publish = (to: string): Promise<string> =>
      client.published(to, {
        "Service-Retries": "0",
        "Service-Failure-Callback": destination.url("/heard"),
      });
    const of = async (id: string): Promise<readonly Json[]> => [
      ...(await client.until(`/v2/events?messageId=${id}&state=ERROR`, "events", isFilled)),
      ...(await client.listed(`/v2/dlq?messageId=${id}`, "messages")),
    ];

    const ids = [
      await publish(destination.url("/breaks")),
      await publish(destination.url("/moved-away")),
      await publish(await deadUrl()),
    ];
    const heard = await destination.arrivals("/heard", 3);

    const half = { responseStatus: 500, truncated: true };
    expect(await of(ids[0] ?? "")).toMatchObject([half, half]);
    const moved = {
      responseStatus: 301,
      error: "redirects are not followed: 301 to https://new.example/there",
    };
    expect(await of(ids[1] ?? "")).toMatchObject([moved, moved]);
    const error = "cannot connect: ECONNREFUSED";
    expect(await of(ids[2] ?? "")).toMatchObject([{ error }, { responseStatus: 0, error }]);
    const told = heard.map(({ body }) => JSON.parse(body.toString()) as Json);
    expect(told.filter(({ truncated }) => truncated === true)).toMatchObject([{ status: 500 }]);
  });
});
