import { describe, expect, it } from "@jest/globals";
import * as fc from "fast-check";
import {
  createReceiver,
  type Handler,
  NonRetryable,
  type ReceiverOptions,
  type Reply,
  RetryAfter,
} from "./receiver.ts";
import { memoryStore, type SeenStore } from "./seen.ts";
import { delivery, keys, now, url } from "./signed.fixture.ts";

const handled: string[] = [];
const problems: unknown[] = [];
const receiver = (handle: Handler, options: Partial<ReceiverOptions> = {}) => {
  handled.length = 0;
  problems.length = 0;
  return createReceiver(
    async (given) => {
      handled.push(given.text());
      return handle(given);
    },
    { keys, url, now: () => now, onProblem: (problem) => problems.push(problem), ...options },
  );
};
const throws = (problem: unknown) => (): never => {
  throw problem;
};

describe("a delivery", () => {
  it.each(["service", "upstash"])(
    "of %s headers is handled, with the fields that it carries",
    async (prefix) => {
      const { receive } = receiver(({ messageId, retried, claims, json }) => ({
        status: 202,
        headers: { "x-mine": "1" },
        body: JSON.stringify({ messageId, retried, to: claims.sub, json: json() }),
      }));

      const answer = await receive(await delivery('{"a":1}', { prefix }));

      expect(answer).toMatchObject({ status: 202, headers: { "x-mine": "1" } });
      expect(JSON.parse(String(answer.body))).toEqual({
        messageId: "msg_1",
        retried: 2,
        to: url,
        json: { a: 1 },
      });
    },
  );

  it("is verified with the keys that are current then", async () => {
    const { receive } = receiver(() => undefined, { keys: () => Promise.resolve(keys) });

    expect(await receive(await delivery("x", { key: keys.next }))).toMatchObject({ status: 200 });
  });

  it.each([
    ["that is not verified", { key: "other" }, {}, 401],
    ["of an expired signature", { claims: { exp: 0 } }, {}, 401],
    ["too large", {}, { bodyBytesMax: 1 }, 413],
  ])("%s is not handled", async (_, signing, options, status) => {
    const { receive } = receiver(() => undefined, options);

    expect(await receive(await delivery("xy", signing))).toMatchObject({ status });

    expect(handled).toEqual([]);
  });

  it("without a message id is not handled", async () => {
    const { receive } = receiver(() => undefined);
    const { headers, body } = await delivery("x");
    delete headers["service-message-id"];

    expect(await receive({ headers, body })).toMatchObject({ status: 401 });
    expect(handled).toEqual([]);
  });
});

describe("a failure", () => {
  const secret = new Error("secret");
  it.each([
    ["is tried again", secret, { status: 500, body: "failed" }],
    [
      "is tried again at its time",
      new RetryAfter(7.2),
      { status: 503, headers: { "retry-after": "8" } },
    ],
    [
      "that no trial will mend is the last",
      new NonRetryable("no such order"),
      { status: 489, headers: { "service-nonretryable-error": "true" }, body: "no such order" },
    ],
    ["that is no error is tried again", undefined, { status: 500 }],
  ])("%s", async (_, problem, answer) => {
    const { receive } = receiver(throws(problem));

    expect(await receive(await delivery("x"))).toMatchObject(answer);

    expect(problems).toEqual([problem]);
  });

  const unsendable = (reply: object): Reply => reply;
  it.each([
    ["status", unsendable({ status: 99 })],
    ["status", unsendable({ status: "200 " })],
    ["header", unsendable({ headers: { "x-order": "a\nb" } })],
    ["header", unsendable({ headers: { "x order": "17" } })],
    ["body", unsendable({ body: { order: 17 } })],
  ])(
    "of a reply with a %s that cannot be sent counts like one of the handler",
    async (_, reply) => {
      const { receive } = receiver(() => reply);

      for (const body of ["first", "again"])
        expect(await receive(await delivery(body))).toMatchObject({ status: 500, body: "failed" });
      expect(problems).toHaveLength(2);
    },
  );

  it("is answered in the dialect of its delivery", async () => {
    const { receive } = receiver(throws(new NonRetryable("no")));
    const signed = await delivery("x", { prefix: "upstash", claims: { iss: "Upstash" } });

    expect((await receive(signed)).headers).toMatchObject({ "upstash-nonretryable-error": "true" });
  });

  it("of keys or store counts like a failure of a handler", async () => {
    const away = new Error("away");
    const storeless = receiver(() => undefined, {
      seen: { claim: throws(away), release: () => undefined },
    });
    expect(await storeless.receive(await delivery("x"))).toMatchObject({ status: 500 });

    const keyless = receiver(() => undefined, { keys: throws(away) });
    expect(await keyless.receive(await delivery("x"))).toMatchObject({ status: 500 });
    expect(handled).toEqual([]);
  });
});

describe("a message", () => {
  it("that was handled is answered well, and not handled again", async () => {
    const { receive } = receiver(() => undefined);

    await receive(await delivery("x"));

    expect(await receive(await delivery("x"))).toMatchObject({ status: 200 });
    expect(handled).toEqual(["x"]);
  });

  it.each([
    ["threw", throws(new Error("no"))],
    ["answered badly", () => ({ status: 502 })],
  ])("whose handler %s is handled again", async (_, handle) => {
    const { receive } = receiver(handle);

    await receive(await delivery("x"));
    await receive(await delivery("x"));

    expect(handled).toHaveLength(2);
  });

  it("that is being handled is answered when that has ended well, and not handled again", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { receive } = receiver(() => promise);

    const answers = [receive(await delivery("x")), receive(await delivery("x"))];
    resolve();

    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200]);
    expect(handled).toEqual(["x"]);
  });

  it("that is being handled is handled by the next when that has failed", async () => {
    const { promise, reject } = Promise.withResolvers<void>();
    const { receive } = receiver(() => (handled.length === 1 ? promise : undefined));

    const answers = [receive(await delivery("x")), receive(await delivery("x"))];
    reject(new Error("no"));

    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([500, 200]);
    expect(handled).toEqual(["x", "x"]);
  });

  it("whose handling takes too long is delivered again later", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { receive } = receiver(() => promise, { underwaySecondsMax: 0 });

    const first = receive(await delivery("x"));
    const second = await receive(await delivery("x"));
    resolve();

    expect(second).toMatchObject({ status: 503, headers: { "retry-after": "5" } });
    expect(await first).toMatchObject({ status: 200 });
    expect(handled).toEqual(["x"]);
  });

  it("is handled each time if no ids are kept", async () => {
    const { receive } = receiver(() => undefined, { seen: false });

    await receive(await delivery("x"));
    await receive(await delivery("x"));

    expect(handled).toHaveLength(2);
  });
});

describe("the store in memory", () => {
  const claimAll = (store: SeenStore, ids: readonly number[]) =>
    ids.map((id) => store.claim(String(id)));

  it("keeps the latest, and no more than it may", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(), { maxLength: 30 }), fc.nat(20), (ids, max) => {
        const store = memoryStore(max);
        for (const id of ids) {
          expect(store.claim(String(id))).toBe("new");
          void store.release(String(id), true);
        }

        const kept = max === 0 ? [] : ids.slice(-max);
        const isKept = claimAll(store, ids).map((claim) => claim === "handled");
        expect(ids.filter((_, i) => isKept[i])).toEqual(kept);
      }),
    );
  });

  it("gives an id that was not handled to the next caller", () => {
    const store = memoryStore();
    expect(store.claim("a")).toBe("new");
    expect(store.claim("a")).toBe("underway");

    void store.release("a", false);

    expect(store.claim("a")).toBe("new");
  });
});
