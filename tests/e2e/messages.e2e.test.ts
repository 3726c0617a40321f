/** Tests `/v2/messages/{messageId}`: reading and cancelling, from the publish to the sweep. */
import { once } from "node:events";
import { beforeAll, describe, expect, it } from "@jest/globals";
import { eventually, includes } from "./client.ts";
import { always, silent } from "./destination.ts";
import { service } from "./dialects.ts";
import { type Json, numberOf, objectOf } from "./json.ts";
import { client, destination, other, startBeforeTests } from "./suite.ts";

startBeforeTests();

/** Delivered at the start of this file, and read by its last tests. */
let early: { readonly id: string; readonly deliveredAt: number };
/** Delivered at the start of this file, with a body that is redacted. */
let redacted: string;
/** Begun at the start of this file. The call takes longer than a lease and two renewals. */
let long: string;
const longMs = 40_000;

beforeAll(async () => {
  destination.answers("/early", always(200, "early, too"));
  const id = await client.published(destination.url("/early"), {}, "early");
  early = { id, deliveredAt: (await destination.arrival("/early")).at };
  const hidden = service({ "Redact-Fields": "body" });
  destination.answers("/redacted", always(200, "a secret"));
  redacted = await client.published(destination.url("/redacted"), hidden, "a secret");
  destination.answers("/long", (_, response) => void setTimeout(() => response.end(), longMs));
  long = await client.published(destination.url("/long"));
});

const statesOf = async (id: string): Promise<readonly unknown[]> =>
  (await client.listed(`/v2/events?messageId=${id}&order=earliestFirst`, "events")).map(
    ({ state }) => state,
  );
/** Waits for the log, which is a moment late. */
const statesUntil = (id: string, last: string): Promise<readonly unknown[]> =>
  eventually(() => statesOf(id), includes(last));
const attemptsIn = ({ attempts }: Json): readonly Json[] => [attempts].flat().map(objectOf);
const bodyOfAnswer = ({ answerBytes, answerBody, answerBodyBase64, answerTruncated }: Json) =>
  objectOf(
    JSON.parse(JSON.stringify({ answerBytes, answerBody, answerBodyBase64, answerTruncated })),
  );
const held = (): Promise<string> =>
  client.published(destination.url("/held"), service({ Delay: "1h" }));

describe("GET /v2/messages/{messageId}", () => {
  describe("200", () => {
    it("answers right after the publish, a hundred times of a hundred, delivered or not", async () => {
      for (let i = 0; i < 100; i++) {
        const id = await client.published(destination.url("/fast"));

        const reply = await client.get(`/v2/messages/${id}`);

        expect(reply.status).toBe(200);
        expect(reply.object()["messageId"]).toBe(id);
      }
    });

    it("answers while the attempt runs, while a retry is awaited, and after the failure", async () => {
      const statuses: number[] = [];
      destination.answers("/watched", ({ headers }, response) => {
        void client
          .get(`/v2/messages/${String(headers["service-message-id"])}`)
          .then(({ status }) => {
            statuses.push(status);
            response.writeHead(500).end();
          });
      });

      const settings = service({ Retries: "1", "Retry-Delay": "2000" });
      const id = await client.published(destination.url("/watched"), settings);
      await statesUntil(id, "RETRY");
      const waiting = await client.get(`/v2/messages/${id}`);
      await statesUntil(id, "FAILED");
      const failed = await client.get(`/v2/messages/${id}`);

      expect(statuses).toEqual([200, 200]);
      expect([waiting.status, failed.status]).toEqual([200, 200]);
    });

    it.each([
      ["text", "fine", 4, { answerBody: "fine" }],
      ["nothing", "", 0, {}],
      ["no text", Buffer.of(0xff, 0x00), 2, { answerBodyBase64: "/wA=" }],
      [
        "more than is kept",
        "a".repeat(9_000),
        9_000,
        { answerBody: "a".repeat(8_192), answerTruncated: true },
      ],
    ])(
      "shows the body of the last answer, delivered or failed: %s",
      async (name, body, answerBytes, shown) => {
        const path = `/answers-${encodeURIComponent(name)}`;
        destination.answers(path, (_, response, nth) =>
          response.writeHead(nth === 1 ? 200 : 500).end(body),
        );
        const retriedSoon = service({ Retries: "1", "Retry-Delay": "1" });
        const delivered = await client.published(destination.url(path), retriedSoon);
        await statesUntil(delivered, "DELIVERED");
        const failed = await client.published(destination.url(path), service({ Retries: "0" }));
        await statesUntil(failed, "FAILED");

        const read = async (id: string) =>
          attemptsIn((await client.get(`/v2/messages/${id}`)).object()).map(bodyOfAnswer);
        expect(await read(delivered)).toEqual([{ answerBytes }, { answerBytes, ...shown }]);
        expect(await read(failed)).toEqual([{ answerBytes, ...shown }]);
      },
    );
  });

  describe("404", () => {
    it("for another tenant's message, with the text of an unknown id", async () => {
      const id = await held();

      const theirs = await other.get(`/v2/messages/${id}`);

      expect(theirs.status).toBe(404);
      expect(theirs.error()).toBe(`message ${id} not found`);
    });

    it.each([
      ["an unknown id", "msg_00000000000000000000000000"],
      ["an id with a character of its own", "msg_0000000000000000000000000_"],
      ["no id of ours", "1"],
      ["an operator", "$ne"],
      ["a path upwards", "%2e%2e"],
      ["an escaped slash", "a%2Fb"],
      ["a NUL", "%00"],
      ["a name that means something to JavaScript", "__proto__"],
      ["a very long id", "m".repeat(10_000)],
    ])("for %s", async (_, id) => {
      const reply = await client.get(`/v2/messages/${id}`);

      expect(reply.status).toBe(404);
      expect(reply.error().length).toBeLessThan(200);
    });
  });
});

describe("DELETE /v2/messages/{messageId}", () => {
  describe("202", () => {
    it("cancels a message that waits for its time: no delivery and no dead letter follow", async () => {
      const failure = destination.url("/canceled-failure");
      const settings = service({ Delay: "1s", "Failure-Callback": failure });
      const id = await client.published(destination.url("/canceled"), settings);

      const reply = await client.delete(`/v2/messages/${id}`);
      await client.published(destination.url("/after"), service({ Delay: "2s" }));
      await destination.arrival("/after");

      expect(reply.status).toBe(202);
      expect(reply.object()).toEqual({ cancelled: 1 });
      expect(await statesUntil(id, "CANCELED")).toEqual([
        "CREATED",
        "CANCEL_REQUESTED",
        "CANCELED",
      ]);
      expect(destination.at("/canceled")).toEqual([]);
      expect(destination.at("/canceled-failure")).toEqual([]);
      expect(await client.listed(`/v2/dlq?messageId=${id}`, "messages")).toEqual([]);
    });

    it("cancels a message that waits for its retry", async () => {
      destination.answers("/retrying", always(500));
      const id = await client.published(
        destination.url("/retrying"),
        service({ "Retry-Delay": "2000" }),
      );
      await statesUntil(id, "RETRY");

      expect((await client.delete(`/v2/messages/${id}`)).status).toBe(202);

      await client.published(destination.url("/after-retry"), service({ Delay: "3s" }));
      await destination.arrival("/after-retry");
      expect(destination.at("/retrying")).toHaveLength(1);
    });

    it("cancels a message in flight, and hangs up on the destination", async () => {
      let hungUp: Promise<unknown> | undefined;
      destination.answers("/in-flight", (_, response) => {
        hungUp = once(response, "close");
      });
      const id = await client.published(destination.url("/in-flight"));
      await destination.arrival("/in-flight");

      const reply = await client.delete(`/v2/messages/${id}`);
      // At once in the same process; elsewhere at the next renewal of the lease, up to ten seconds later.
      await hungUp;

      expect(reply.object()).toEqual({ cancelled: 1 });
      const states = await statesUntil(id, "CANCELED");
      expect(states).toEqual(["CREATED", "ACTIVE", "CANCEL_REQUESTED", "CANCELED"]);
      expect(destination.at("/in-flight")).toHaveLength(1);
    });

    it("cancels a message that waits in its lane, and the next one is delivered", async () => {
      destination.answers("/lane", silent);
      const key = service({ "Flow-Control-Key": "k", "Flow-Control-Value": "parallelism=1" });
      const first = await client.published(destination.url("/lane"), key);
      await destination.arrival("/lane");
      const second = await client.published(destination.url("/lane-second"), key);
      await client.published(destination.url("/lane-third"), key);

      expect((await client.delete(`/v2/messages/${second}`)).status).toBe(202);
      expect((await client.delete(`/v2/messages/${first}`)).status).toBe(202);

      await destination.arrival("/lane-third", 15_000);
      expect(destination.at("/lane-second")).toEqual([]);
    });

    it("cancels once for ten requests at the same time", async () => {
      const id = await held();

      const replies = await Promise.all(
        Array.from({ length: 10 }, () => client.delete(`/v2/messages/${id}`)),
      );

      const statuses = replies.map(({ status }) => status).toSorted();
      expect(statuses).toEqual([202, ...Array<number>(9).fill(404)]);
    });
  });

  describe("404", () => {
    it("for a message that was delivered, failed or cancelled before", async () => {
      destination.answers("/fails", always(500));
      const failed = await client.published(destination.url("/fails"), service({ Retries: "0" }));
      await statesUntil(failed, "FAILED");
      const canceled = await held();
      await client.delete(`/v2/messages/${canceled}`);

      const replies = await Promise.all(
        [early.id, failed, canceled].map((id) => client.delete(`/v2/messages/${id}`)),
      );

      expect(replies.map(({ status }) => status)).toEqual([404, 404, 404]);
      expect(await statesUntil(early.id, "DELIVERED")).toEqual(["CREATED", "ACTIVE", "DELIVERED"]);
    });

    it("for an unknown id, and for another tenant's message, which is delivered", async () => {
      const id = await held();

      const unknown = await client.delete("/v2/messages/msg_00000000000000000000000000");
      const theirs = await other.delete(`/v2/messages/${id}`);

      expect([unknown.status, theirs.status]).toEqual([404, 404]);
      expect(await statesUntil(id, "CREATED")).toEqual(["CREATED"]);
    });
  });
});

describe("POST /v2/messages/{messageId}/retry", () => {
  const runNow = (id: string, by = client) => by.post(`/v2/messages/${id}/retry`);

  it("200 delivers a message that waits for its delay, now and once", async () => {
    const id = await client.published(destination.url("/now"), service({ Delay: "1h" }));

    expect((await runNow(id)).status).toBe(200);

    await destination.arrival("/now");
    expect(await statesUntil(id, "DELIVERED")).toEqual(["CREATED", "ACTIVE", "DELIVERED"]);
    expect(destination.at("/now")).toHaveLength(1);
  });

  it("200 makes a waiting retry now, and adds no retry", async () => {
    destination.answers("/retry-now", always(500));
    const settings = service({ Retries: "1", "Retry-Delay": "3600000" });
    const id = await client.published(destination.url("/retry-now"), settings);
    await statesUntil(id, "RETRY");

    expect((await runNow(id)).status).toBe(200);

    await statesUntil(id, "FAILED");
    expect(destination.at("/retry-now")).toHaveLength(2);
  });

  it("400 for a message in a queue, and nothing changes", async () => {
    const headers = service({ Delay: "1h", "Queue-Name": "no-overtaking" });
    const id = await client.published(destination.url("/queued"), headers);

    const reply = await runNow(id);

    expect([reply.status, reply.error()]).toEqual([400, expect.stringContaining("queue")]);
    expect(destination.at("/queued")).toEqual([]);
    await client.delete(`/v2/messages/${id}`);
  });

  it("404 for a message that waits for no time: ended, unknown or another tenant's", async () => {
    const ended = await client.published(destination.url("/ended"));
    await statesUntil(ended, "DELIVERED");
    const theirs = await other.published(destination.url("/theirs"), service({ Delay: "1h" }));

    for (const id of [ended, theirs, "msg_none"])
      expect({ id, status: (await runNow(id)).status }).toEqual({ id, status: 404 });
    expect(destination.at("/theirs")).toEqual([]);
  });
});

describe("a call that takes longer than a lease", () => {
  it("is made once, and delivers the message", async () => {
    const states = await eventually(() => statesOf(long), includes("DELIVERED"), longMs + 10_000);

    expect(states).toEqual(["CREATED", "ACTIVE", "DELIVERED"]);
    expect(destination.at("/long")).toHaveLength(1);
  }, 180_000);
});

describe("a message that has ended", () => {
  it("keeps its record for at least 30 s and at most 75 s, and is shown afterwards with its attempts and its body", async () => {
    // The log shows the bodies of records.
    const gone = async (): Promise<boolean> =>
      (await client.get(`/v2/events?messageId=${early.id}`))
        .list("events")
        .every((event) => !("body" in event));

    const [readableMs, goneMs] = [30_000, 75_000];
    await eventually(gone, (isGone) => isGone, goneMs);
    const keptMs = Date.now() - early.deliveredAt;

    expect(keptMs).toBeGreaterThanOrEqual(readableMs);
    expect(await statesUntil(early.id, "DELIVERED")).toEqual(["CREATED", "ACTIVE", "DELIVERED"]);
    const read = (await client.get(`/v2/messages/${early.id}`)).object();
    const { attempts, state } = read;
    const attempt = {
      ended: "delivered",
      answerStatus: 200,
      answerBytes: 10,
      answerBody: "early, too",
      tookMs: expect.any(Number) as unknown,
    };
    expect({ attempts, state }).toMatchObject({ attempts: [attempt], state: "DELIVERED" });
    const dayMs = 86_400_000;
    expect(read).toMatchObject({ body: "early" });
    expect(numberOf(read["bodyKeptUntil"])).toBeGreaterThanOrEqual(early.deliveredAt + dayMs - 5);
    expect((await other.get(`/v2/messages/${early.id}`)).status).toBe(404);
    // Another shard may be swept later.
    const secret = await eventually(
      async () => (await client.get(`/v2/messages/${redacted}`)).object(),
      (message) => !("body" in message),
      goneMs,
    );
    expect(secret).toMatchObject({ state: "DELIVERED" });
    expect(secret).not.toHaveProperty("bodyKeptUntil");
    expect(attemptsIn(secret)).toEqual([
      expect.not.objectContaining({ answerBody: expect.anything() as unknown }),
    ]);
  }, 240_000);
});
