/** Tests the target of a publish (docs/design/wire#targets), and the one rule for a URL wherever it is given (ADR 130). */
import { beforeAll, describe, expect, it } from "@jest/globals";
import { isFilled } from "./client.ts";
import { type Arrival } from "./destination.ts";
import { type Json, objectOf, textOf } from "./json.ts";
import { answerTo, errorOf, rawRequest } from "./raw-socket.ts";
import { destination, server, startBeforeTests } from "./suite.ts";

startBeforeTests();

/** Publishes to `target`, with `HOST` replaced by the destination's host and port, and waits for the delivery. */
async function delivered(target: string): Promise<{ arrival: Arrival; url: string }> {
  const before = destination.total;
  const id = await server.client.published(target.replace("HOST", `127.0.0.1:${destination.port}`));
  await destination.until(() => destination.total > before);
  const message = (await server.client.get(`/v2/messages/${id}`)).object();
  const [path] = arrivalPaths(id);
  const arrival = destination.at(path ?? "").find((a) => a.headers["service-message-id"] === id);
  if (!arrival) throw new Error(`${target} did not arrive`);
  return { arrival, url: String(message["url"]).replace(`127.0.0.1:${destination.port}`, "HOST") };
}

const arrivalPaths = (id: string): readonly string[] =>
  destination.paths.filter((path) =>
    destination.at(path).some(({ headers }) => headers["service-message-id"] === id),
  );

describe("a publish", () => {
  describe("200", () => {
    it.each([
      // The target, the path at the destination, and the URL that is recorded and signed.
      ["http://HOST/c?x=y//", "/c?x=y//", "http://HOST/c?x=y//"],
      ["http://HOST", "/", "http://HOST"],
      ["http://HOST/../%2e%2e/x", "/x", "http://HOST/x"],
      ["http://HOST/a%2Fb%20c%00", "/a%2Fb%20c%00", "http://HOST/a%2Fb%20c%00"],
      ["http://HOST/%zz", "/%zz", "http://HOST/%zz"],
      ["http://HOST/q?service-id=7", "/q?service-id=7", "http://HOST/q?service-id=7"],
      ["HTTP://HOST/scheme", "/scheme", "HTTP://HOST/scheme"],
      ["http:/HOST/merged", "/merged", "http://HOST/merged"],
      ["http%3A%2F%2FHOST%2Fc%3Fx%3D1%2526", "/c?x=1%26", "http://HOST/c?x=1%26"],
    ])("to %s arrives as %s, and is recorded as %s", async (target, path, recorded) => {
      const { arrival, url } = await delivered(target);

      expect(arrival.path).toBe(path);
      expect(url).toBe(recorded);
    });

    it("finds its route in any case", async () => {
      const url = destination.url("/route-case");

      const reply = await server.client.post(`/V2/Publish/${url}`);

      expect(reply.status).toBe(200);
      await destination.arrival("/route-case");
    });

    it("answers with the id and the URL that is called", async () => {
      const url = destination.url("/y?z=%2f");

      const reply = await server.client.publish(url);

      expect(reply.headers["content-type"]).toBe("application/json");
      expect(reply.object()).toEqual({ messageId: expect.stringMatching(/^msg_\w+$/), url });
    });
  });

  describe("400", () => {
    it.each([
      ["a private address", "http://10.0.0.1/"],
      ["a private address in full-width digits", "http://%31%30.0.0.1/"],
      ["cloud metadata", "http://169.254.169.254/latest"],
      ["an IPv4 address inside IPv6", "http://[64:ff9b::169.254.169.254]/"],
    ])("to %s is refused as not public", async (_, target) => {
      const reply = await server.client.publish(target);

      expect(reply.error()).toMatch(/^invalid destination url: endpoint resolves to /);
      expect(reply.status).toBe(400);
    });

    it.each([
      ["a fragment", "http://a.b/#f"],
      ["a space", "http://a.b/a b"],
      ["an unescaped letter beyond ASCII", "http://a.b/\xe9"],
      ["a NUL", "http://a.b/\0"],
      ["a line feed", "http://a.b/\nx"],
    ])("whose raw target holds %s is refused", async (_, target) => {
      const bytes = Buffer.from(rawRequest(`POST /v2/publish/${target} HTTP/1.1`), "latin1");

      const answer = await answerTo(server.port, bytes);

      expect(answer.status).toBe(400);
      expect(errorOf(answer)).not.toBe("");
    });
  });

  it("to a URL of 4,096 characters is delivered, such as a signed URL with a session token", async () => {
    const url = destination.url("/signed?token=").padEnd(4_096, "x");

    await server.client.published(url);

    expect((await destination.arrival("/signed")).path).toBe(url.slice(url.indexOf("/signed")));
  });

  it("leaves no trace when it is refused", async () => {
    const events = await server.client.listed("/v2/events", "events");

    const refused = events.filter(({ url }) => !String(url).includes(`:${destination.port}`));
    expect(refused).toEqual([]);
  });
});

it("400 for api/llm without a provider in the settings", async () => {
  const reply = await server.client.post("/v2/publish/api/llm", {
    "Service-Callback": destination.url("/answer"),
  });

  expect([reply.status, reply.error()]).toEqual([
    400,
    "invalid destination: api/llm has no provider here, its operator sets one",
  ]);
});

describe("a URL", () => {
  /** Ways to give a URL. Each returns the URL that the API shows, and has it called. */
  const places: Readonly<
    Record<string, (given: string, unique: string) => Promise<string | undefined>>
  > = {
    "a target, as a client's URL parser writes it": async (given) => {
      const { pathname, search } = new URL(`http://x/v2/publish/${given}`);
      return shownAs(await posted(`${pathname}${search}`), "url");
    },
    "a target, encoded as a whole": async (given) =>
      shownAs(await posted(`/v2/publish/${encodeURIComponent(given)}`), "url"),
    "a target of a queue": async (given, unique) =>
      shownAs(await posted(`/v2/enqueue/q${unique}/${encodeURIComponent(given)}`), "url"),
    "an item of a batch": async (given) =>
      shownAs(await posted("/v2/batch", {}, [{ destination: given }]), "url"),
    "an item of a batch for a queue": async (given, unique) =>
      shownAs(await posted("/v2/batch", {}, [{ destination: given, queue: `b${unique}` }]), "url"),
    "an endpoint of a group": async (given, unique) => {
      await posted(`/v2/topics/g${unique}/endpoints`, {}, { endpoints: [{ url: given }] });
      await posted(`/v2/publish/g${unique}`);
      const group = await server.client.listed(`/v2/topics/g${unique}`, "endpoints");
      return textOf(group[0]?.["url"]);
    },
    "a callback": async (given) =>
      shownAs(
        await posted(`/v2/publish/${plain}`, { "Service-Callback": bytesOf(given) }),
        "callback",
      ),
    "a failure callback": async (given) => {
      const headers = { "Service-Retries": "0", "Service-Failure-Callback": bytesOf(given) };
      return shownAs(await posted(`/v2/publish/${broken}`, headers), "failureCallback");
    },
    "a callback in the query": async (given) => {
      const query = new URLSearchParams({ "service-callback": given });
      return shownAs(await posted(`/v2/publish/${plain}?${query.toString()}`), "callback");
    },
    "a callback of an item of a batch": async (given) => {
      const item = { destination: plain, headers: { "Service-Callback": given } };
      return shownAs(await posted("/v2/batch", {}, [item]), "callback");
    },
    "a default callback of a group": async (given, unique) => {
      const name = `d${unique}`;
      await posted(`/v2/topics/${name}/endpoints`, {}, { endpoints: [{ url: plain }] });
      const headers = { "Service-Callback": given };
      await server.client.call("PATCH", `/v2/topics/${name}`, {}, JSON.stringify({ headers }));
      await posted(`/v2/publish/${name}`);
      const group = (await server.client.get(`/v2/topics/${name}`)).object();
      return textOf(objectOf(group["headers"])["Service-Callback"]);
    },
    "the endpoint of a run": async (given) => {
      const { workflowRunId } = await posted(`/v2/trigger/${encodeURIComponent(given)}`);
      const logs = await server.client.get(
        `/v2/workflows/logs?workflowRunId=${textOf(workflowRunId)}`,
      );
      return textOf(logs.list("runs")[0]?.["workflowUrl"]);
    },
  };

  let plain = "";
  let broken = "";
  beforeAll(() => {
    plain = destination.url("/plain");
    broken = destination.url("/broken");
    destination.answers("/broken", (_, response) => response.writeHead(500).end());
  });

  const bytesOf = (text: string): string => Buffer.from(text).toString("latin1");

  async function posted(path: string, headers = {}, json?: unknown): Promise<Json> {
    const body = json === undefined ? "" : JSON.stringify(json);
    const reply = await server.client.post(path, headers, body);
    if (reply.status !== 200) throw new Error(`${path}: ${reply.status} ${reply.text}`);
    const answered = reply.text === "" ? {} : reply.json();
    return objectOf(Array.isArray(answered) ? answered[0] : answered);
  }

  async function shownAs({ messageId }: Json, field: string): Promise<string> {
    const message = await server.client.get(`/v2/messages/${textOf(messageId)}`);
    return textOf(message.object()[field]);
  }

  let runs = 0;
  describe.each(Object.keys(places))("given as %s", (place) => {
    it.each([
      [
        "UTF-8, a blank, a backslash, dots and a fragment",
        "127.0.0.1",
        "/ü b\\./c?q=日 x#part",
        "/%C3%BC%20b/c?q=%E6%97%A5%20x",
      ],
      ["a host in Unicode", "bücher.localhost", "/x", "/x"],
      [
        "characters that a URL may not have",
        "127.0.0.1",
        "/\"<>{}`|?'<>",
        "/%22%3C%3E%7B%7D%60|?%27%3C%3E",
      ],
    ])("with %s is shown, called and signed in one form", async (_, host, given, path) => {
      const unique = `${++runs}`;
      const port = destination.port;

      const shown = await places[place]?.(`http://${host}:${port}/${unique}${given}`, unique);

      const text = `http://${host.replace("bücher", "xn--bcher-kva")}:${port}/${unique}${path}`;
      expect(shown).toBe(text);
      const arrival = await destination.arrival(`/${unique}${path.split("?")[0] ?? ""}`, 15_000);
      expect(`http://${arrival.headers.host ?? ""}${arrival.path}`).toBe(text);
      const signature =
        arrival.headers["service-signature"] ?? arrival.headers["upstash-signature"];
      expect(claimsIn(textOf(signature))["sub"]).toBe(text);
    });
  });

  it("of a schedule and of its callback is shown in the form that is called", async () => {
    const given = "http://bücher.localhost:3000/a b";
    const headers = { "Service-Cron": "0 0 1 1 *", "Service-Callback": bytesOf(given) };

    const { scheduleId } = await posted(`/v2/schedules/${encodeURIComponent(given)}`, headers);

    const schedule = (await server.client.get(`/v2/schedules/${textOf(scheduleId)}`)).object();
    const text = "http://xn--bcher-kva.localhost:3000/a%20b";
    expect([schedule["destination"], schedule["callback"]]).toEqual([text, text]);
    await server.client.call("DELETE", `/v2/schedules/${textOf(scheduleId)}`, {});
  });

  it("names an endpoint of a group in each of its spellings", async () => {
    const [, added, same] = ["", "http://a.example/ü", "http://a.example/%C3%BC#x"];
    const endpoints = (url = "") => JSON.stringify({ endpoints: [{ url }] });
    await server.client.post("/v2/topics/same/endpoints", {}, endpoints(added));
    await server.client.post("/v2/topics/same/endpoints", {}, endpoints(same));

    const group = await server.client.listed("/v2/topics/same", "endpoints");
    await server.client.call("DELETE", "/v2/topics/same/endpoints", {}, endpoints(added));

    expect(group).toEqual([{ url: "http://a.example/%C3%BC" }]);
    expect((await server.client.get("/v2/topics/same")).status).toBe(404);
  });

  it("finds its messages in each of its spellings", async () => {
    await server.client.published(destination.url("/found/%C3%BC"));

    const url = encodeURIComponent(destination.url("/found/ü"));
    const found = await server.client.until(`/v2/events?url=${url}`, "events", isFilled);

    expect(found[0]?.["url"]).toBe(destination.url("/found/%C3%BC"));
  });
});

const claimsIn = (token: string): Json =>
  objectOf(JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()));
