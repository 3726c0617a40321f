/** Tests the headers of a publish (docs/design/wire#headers): their effects, and the refusal of bad ones. */
import { beforeAll, describe, expect, it } from "@jest/globals";
import { type Reply } from "./client.ts";
import { dialects, inDialect } from "./dialects.ts";
import { destination, server, startBeforeTests } from "./suite.ts";

startBeforeTests();

it("a publish of JSON with a Content-Encoding gets 415", async () => {
  const encoded = { "Content-Encoding": "gzip" };

  const replies = [
    await server.client.post("/v2/batch", encoded, "[]"),
    await server.client.post("/v2/queues", encoded, '{"queueName":"q"}'),
    await server.client.post("/v2/queues", { "Content-Encoding": "identity" }, '{"queueName":"q"}'),
  ];

  expect(replies.map(({ status }) => status)).toEqual([415, 415, 200]);
});

describe("a misspelt header is refused with the nearest known name, and nothing happens", () => {
  const wrong = { "Service-Retires": "1" };
  const to = () => destination.url("/misspelt");
  const ways: readonly (readonly [string, () => Promise<Reply>])[] = [
    ["publish", () => server.client.post(`/v2/publish/${to()}`, wrong)],
    ["publish to a group", () => server.client.post("/v2/publish/misspelt-group", wrong)],
    ["enqueue", () => server.client.post(`/v2/enqueue/misspelt/${to()}`, wrong)],
    ["query", () => server.client.post(`/v2/publish/${to()}?service-retires=1`)],
    ["batch", () => server.client.postJson("/v2/batch", [{ destination: to(), headers: wrong }])],
    [
      "schedule",
      () => server.client.post(`/v2/schedules/${to()}`, { ...wrong, "Service-Cron": "* * * * *" }),
    ],
    ["trigger", () => server.client.post(`/v2/trigger/${to()}`, wrong)],
    ["a retry", () => server.client.post("/v2/dlq/retry/1700000000000-x", wrong)],
    ["retries", () => server.client.post("/v2/dlq/retry?label=none", wrong)],
    [
      "the headers of a group",
      () =>
        server.client.call(
          "PATCH",
          "/v2/topics/misspelt-group",
          {},
          JSON.stringify({ headers: wrong }),
        ),
    ],
  ];

  beforeAll(async () => {
    const endpoints = JSON.stringify({ endpoints: [{ url: to() }] });
    await server.client.post("/v2/topics/misspelt-group/endpoints", {}, endpoints);
  });

  it.each(ways)("400 for %s", async (_, ask) => {
    const reply = await ask();

    expect([reply.status, reply.headers["posthaste-fault"]]).toEqual([400, "malformed"]);
    expect(reply.error()).toMatch(/service-retires: .*, is it Service-Retries\?$/i);
    expect(destination.at("/misspelt")).toEqual([]);
  });

  it("200 for a header of a newer client in the Upstash- dialect", async () => {
    const reply = await server.client.post(`/v2/publish/${destination.url("/newer")}`, {
      "Upstash-Retires": "1",
    });

    expect(reply.status).toBe(200);
  });
});

it("400 for a publish, a batch and a schedule to a host without a scheme, 404 to a group that is not there", async () => {
  const cron = { "Service-Cron": "* * * * *" };
  const item = JSON.stringify([{ destination: "example.com" }]);

  const replies = [
    await server.client.post("/v2/publish/example.com"),
    await server.client.post("/v2/batch", {}, item),
    await server.client.post("/v2/schedules/example.com", cron),
    await server.client.post("/v2/publish/orders"),
  ];

  expect(replies.map(({ status }) => status)).toEqual([400, 400, 400, 404]);
  for (const reply of replies.slice(0, 3))
    expect(reply.error()).toMatch(/add http:\/\/ or https:\/\//);
});

describe.each(dialects)("a publish with $prefix headers", ({ prefix, userAgent }) => {
  const given = (settings: Record<string, string | string[]>) => inDialect(prefix, settings);
  const path = (name: string): string => `/${prefix}${name}`;
  const lower = prefix.toLowerCase();

  describe("200", () => {
    it.each(["GET", "POST", "PUT", "PATCH", "DELETE"])(
      "delivers with the method %s, and with the body",
      async (method) => {
        const url = destination.url(path(method));

        await server.client.published(url, given({ Method: method }), "the body");

        const arrival = await destination.arrival(path(method));
        expect(arrival).toMatchObject({ method, body: Buffer.from("the body") });
      },
    );

    it("delivers with POST, and marks the delivery with id, attempt, caller, hop and user agent", async () => {
      const url = destination.url(path("marks"));

      const id = await server.client.published(url, given({ Label: "tells the dialect" }));

      const { method, headers } = await destination.arrival(path("marks"));
      expect(method).toBe("POST");
      expect(headers).toMatchObject({
        "user-agent": userAgent,
        [`${lower}message-id`]: id,
        [`${lower}retried`]: "0",
        [`${lower}caller-ip`]: "127.0.0.1",
        [`${lower}hop`]: "1",
        [`${lower}signature`]: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      });
    });

    it("delivers encoding and language of the body with its bytes, from a publish, a queue and a group", async () => {
      const sent = { "Content-Encoding": "gzip", "Content-Language": "de" };
      const [name] = [`encoded-${lower}`];
      const endpoints = [{ url: destination.url(path("encoded-group")) }];
      await server.client.postJson(`/v2/topics/${name}/endpoints`, { endpoints });

      for (const target of [
        `publish/${destination.url(path("encoded-publish"))}`,
        `enqueue/${name}/${destination.url(path("encoded-queue"))}`,
        `publish/${name}`,
      ])
        await server.client.post(
          `/v2/${target}`,
          { ...sent, ...given({ Label: "x" }) },
          "\x1f\x8b",
        );

      for (const at of ["encoded-publish", "encoded-queue", "encoded-group"])
        expect((await destination.arrival(path(at))).headers).toMatchObject({
          "content-encoding": "gzip",
          "content-language": "de",
        });
    });

    it("forwards the headers of the request byte by byte, except headers that do not fit", async () => {
      const url = destination.url(path("bytes"));
      const type = 'text/plain; name="caf\xc3\xa9 \xff"';
      const headers = {
        "Content-Type": type,
        "X-Name": "caf\xc3\xa9 \xff",
        Cookie: "c".repeat(9_000),
        "X-Last": "1",
      };

      await server.client.published(url, { ...headers, ...given({ "Header-Forward": "true" }) });

      const { headers: arrived } = await destination.arrival(path("bytes"));
      expect(arrived).toMatchObject({
        "content-type": type,
        "x-name": "caf\xc3\xa9 \xff",
        "x-last": "1",
      });
      expect(arrived).not.toHaveProperty("cookie");
    });

    it("delivers no header of the request but Content-Type and the forwarded ones", async () => {
      const headers = {
        "Content-Type": "text/x-own",
        Cookie: "secret=1",
        Accept: "x/y",
        ...given({ "Forward-My-Header": "a, b", "forward-AUTHORIZATION": "Bearer theirs" }),
      };

      await server.client.published(destination.url(path("forward")), headers);

      const arrival = await destination.arrival(path("forward"));
      const names = arrival.rawHeaders.filter((_, i) => i % 2 === 0).map((n) => n.toLowerCase());
      const ours = names.filter((name) => !name.startsWith(lower));
      expect(ours.toSorted()).toEqual(
        // The headers of any HTTP request, beside the given ones.
        [
          ...["accept-encoding", "connection", "content-length", "host", "user-agent"],
          ...["authorization", "content-type", "my-header"],
        ].toSorted(),
      );
      expect(arrival.headers).toMatchObject({
        "content-type": "text/x-own",
        "my-header": "a, b",
        authorization: "Bearer theirs",
      });
    });

    it("delivers all headers of the request except credentials when Header-Forward is true", async () => {
      const headers = { "X-Webhook": "1", Cookie: "c=1", ...given({ "Header-Forward": "true" }) };

      await server.client.published(destination.url(path("all")), headers);

      const arrival = await destination.arrival(path("all"));
      expect(arrival.headers).toMatchObject({ "x-webhook": "1", cookie: "c=1" });
      expect(arrival.headers.authorization).toBeUndefined();
      expect(arrival.headers.host).toBe(`127.0.0.1:${destination.port}`);
    });

    it("never forwards headers of the connection, or headers that mark a delivery", async () => {
      const forged = ["Signature", "Message-Id", "Retried", "Hop", "Caller-Ip", "Region"];
      const headers = {
        ...given({
          "Forward-Transfer-Encoding": "chunked",
          "Forward-Content-Length": "5",
          "Forward-Connection": "close, X-Listed",
          "Forward-X-Listed": "1",
          "Forward-Keep-Alive": "1",
          "Forward-Proxy-Authorization": "1",
          "Forward-TE": "trailers",
          "Forward-Upgrade": "h2c",
          "Forward-Expect": "100-continue",
          "Forward-HTTP2-Settings": "1",
        }),
        ...given(Object.fromEntries(forged.map((n) => [`Forward-${prefix}${n}`, "forged"]))),
        ...given({ "Forward-Upstash-Workflow-Init": "true" }),
      };

      await server.client.published(destination.url(path("strip")), headers, "body");

      const arrival = await destination.arrival(path("strip"));
      expect(arrival.rawHeaders).not.toContain("forged");
      expect(arrival.body.toString()).toBe("body");
      for (const name of ["x-listed", "proxy-authorization", "te", "upgrade", "expect"]) {
        expect(arrival.headers[name]).toBeUndefined();
      }
      expect(arrival.headers["upstash-workflow-init"]).toBe("true");
    });

    it("delivers header names that mean something to JavaScript like any other", async () => {
      const odd = { "Forward-__proto__": "a", "Forward-constructor": "b", "Forward-toString": "c" };

      const id = await server.client.published(
        destination.url(path("odd")),
        given({ ...odd, Delay: "1s" }),
      );

      const { header } = (await server.client.get(`/v2/messages/${id}`)).object();
      const { rawHeaders } = await destination.arrival(path("odd"));
      expect(rawHeaders.join("|")).toContain("__proto__|a|constructor|b|toString|c");
      expect(JSON.stringify(header)).toContain('"Constructor":["b"],"Tostring":["c"]');
    });

    it("records every setting as it was given", async () => {
      const url = destination.url(path("held"));
      const id = await server.client.published(
        url,
        {
          "Content-Type": "text/plain",
          ...given({
            Method: "PUT",
            Timeout: "1h1m1s",
            Retries: "7",
            "Retry-Delay": "1000 * pow(2, retried)",
            Delay: "1d2h",
            Label: "first, second",
            "Flow-Control-Key": "a key/with:signs",
            "Flow-Control-Value": "period=1h30m3s , rate=5,parallelism=3",
            "Forward-My-Header": "value",
            Callback: destination.url("/cb"),
            "Callback-Forward-X-Cb": "cb",
            "Failure-Callback": destination.url("/fcb"),
            "Failure-Callback-Forward-X-Fcb": "fcb",
          }),
        },
        "héld",
      );

      const message = (await server.client.get(`/v2/messages/${id}`)).object();

      const createdAt = Number(message["createdAt"]);
      expect(message).toEqual({
        messageId: id,
        url,
        method: "PUT",
        header: { "Content-Type": ["text/plain"], "My-Header": ["value"] },
        body: "héld",
        maxRetries: 7,
        notBefore: createdAt + 26 * 3_600_000,
        createdAt,
        callback: destination.url("/cb"),
        callbackHeader: { "X-Cb": ["cb"] },
        failureCallback: destination.url("/fcb"),
        failureCallbackHeader: { "X-Fcb": ["fcb"] },
        callerIP: "127.0.0.1",
        label: "first",
        labels: ["first", "second"],
        flowControlKey: "a key/with:signs",
        rate: 5,
        period: 5_403,
        parallelism: 3,
        retryDelayExpression: "1000 * pow(2, retried)",
        timeout: 3_661_000,
        state: "CREATED",
        attempts: [],
      });
      expect(Math.abs(createdAt - Date.now())).toBeLessThan(60_000);
    });

    it("records the plan's defaults for settings not given, and leaves out missing fields", async () => {
      const id = await server.client.published(destination.url(path("d")), given({ Delay: "1h" }));

      const message = (await server.client.get(`/v2/messages/${id}`)).object();

      expect(Object.keys(message).toSorted()).toEqual(
        ["attempts", "callerIP", "createdAt", "header", "maxRetries", "messageId"].concat([
          "method",
          "notBefore",
          "state",
          "timeout",
          "url",
        ]),
      );
      expect(message).toMatchObject({ maxRetries: 3, timeout: 7_200_000, header: {} });
    });

    it("takes names in any case, spaces around values and True for true, and ignores names of other releases", async () => {
      const headers = {
        [`${prefix.toUpperCase()}RETRIES`]: "  4  ",
        [`${lower}delay`]: "1h",
        ...given({
          "Content-Based-Deduplication": "False",
          "Not-Of-This-Release": "x",
          "Callback-x": "y",
        }),
      };

      const id = await server.client.published(destination.url(path("case")), headers);

      const message = (await server.client.get(`/v2/messages/${id}`)).object();
      expect(message["maxRetries"]).toBe(4);
    });

    it("takes settings from the query, and delivers the query without them", async () => {
      const query = `?x=1&${lower}retries=9&y=%2F&${lower}forward-X-Q=a%20b`;

      const id = await server.client.published(destination.url(path("query") + query));

      const arrival = await destination.arrival(path("query"));
      const message = (await server.client.get(`/v2/messages/${id}`)).object();
      expect(arrival.path).toBe(`${path("query")}?x=1&y=%2F`);
      expect(arrival.headers).toMatchObject({ "x-q": "a b", [`${lower}message-id`]: id });
      expect(message).toMatchObject({ maxRetries: 9, url: destination.url(arrival.path) });
    });
  });

  const url = (): string => destination.url(path("refused"));
  const refusal = async (headers: Record<string, string | string[]>) => {
    const reply = await server.client.publish(url(), given(headers), "x");
    return { status: reply.status, error: reply.error() };
  };

  describe("400", () => {
    it("refuses a header that is given twice, even with one value", async () => {
      const error = `${prefix}Retries: must be given once`;

      expect(await refusal({ Retries: ["1", "1"] })).toEqual({ status: 400, error });
    });
  });

  it("leaves no trace of a refused publish", async () => {
    const events = await server.client.get(`/v2/events?url=${encodeURIComponent(url())}`);

    expect(events.list("events")).toEqual([]);
    expect(destination.at(path("refused"))).toEqual([]);
  });
});
