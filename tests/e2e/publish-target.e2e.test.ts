/** The target of a publish (docs/design/wire#targets): raw, un-normalised, and the destination's own in every byte. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { startServer, type TestServer } from "./server.ts";
import { type Arrival, Destination } from "./destination.ts";
import { answerTo, errorOf, rawRequest } from "./raw-socket.ts";

let server: TestServer;
let destination: Destination;

beforeAll(async () => {
  server = await startServer();
  destination = await Destination.start();
});
afterAll(async () => {
  await destination.stop();
  await server.stop();
});

/** Publishes to `target`, in which `HOST` stands for the destination's host and port, and waits for the delivery. */
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
      // Target, path at the destination, and the URL that is recorded and signed.
      ["http://HOST/c?x=y//", "/c?x=y//", "http://HOST/c?x=y//"],
      ["http://HOST//a//b/", "//a//b/", "http://HOST//a//b/"],
      ["http://HOST", "/", "http://HOST"],
      ["http://HOST?q", "/?q", "http://HOST?q"],
      ["http://HOST/../%2e%2e/x", "/x", "http://HOST/../%2e%2e/x"],
      ["http://HOST/a%2Fb%20c%00", "/a%2Fb%20c%00", "http://HOST/a%2Fb%20c%00"],
      ["http://HOST/%zz", "/%zz", "http://HOST/%zz"],
      [
        "http://HOST/?u=https://c.d/?z=1&w=%23",
        "/?u=https://c.d/?z=1&w=%23",
        "http://HOST/?u=https://c.d/?z=1&w=%23",
      ],
      ["http://HOST/q?a=b;c=d", "/q?a=b;c=d", "http://HOST/q?a=b;c=d"],
      ["http://HOST/q??x=%26&&y", "/q??x=%26&&y", "http://HOST/q??x=%26&&y"],
      ["http://HOST/q?service-id=7", "/q?service-id=7", "http://HOST/q?service-id=7"],
      ["HTTP://HOST/scheme", "/scheme", "HTTP://HOST/scheme"],
      ["http:/HOST/merged", "/merged", "http://HOST/merged"],
      ["http%3A%2F%2FHOST%2Fc%3Fx%3D1%2526", "/c?x=1%26", "http://HOST/c?x=1%26"],
      ["http%3a%2f%2FHOST/d?y=1", "/d?y=1", "http://HOST/d?y=1"],
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

    it("answers with the id and the URL as it was published", async () => {
      const url = destination.url("/x/../y");

      const reply = await server.client.publish(url);

      expect(reply.headers["content-type"]).toBe("application/json");
      expect(reply.object()).toEqual({ messageId: expect.stringMatching(/^msg_\w+$/), url });
    });
  });

  describe("400", () => {
    const scheme = "invalid destination url: endpoint has invalid scheme, add http:// or https://";
    it.each([
      ["https%253A%252F%252Fa.b", scheme],
      ["..", scheme],
      ["%2e%2e", scheme],
      ["//a.b", scheme],
      ["https:a.b", scheme],
      ["my%2Fgroup", scheme],
      ["my%20group", scheme],
      ["ftp://a.b/", scheme],
      ["file:///etc/passwd", scheme],
      ["gopher://127.0.0.1:6379/_x", scheme],
      ["javascript:alert(1)", scheme],
      ["", "a non-empty destination must be provided"],
      ["?x=1", "a non-empty destination must be provided"],
      ["http://", /not a valid URL/],
      ["http:///a.b/", /./],
      ["http://user:pw@a.b/", /-Forward-Authorization/],
      ["http://a.b:99999/", /not a valid URL/],
      ["http://a.b:0/", /port 0/],
      ["http://256.256.256.256/", /not a valid URL/],
      ["http://[fe80::1%25eth0]/", /not a valid URL/],
      ["http://a..b/", /host name/],
      ["http://-a.b/", /host name/],
      [`http://a.b/${"x".repeat(2_048)}`, /longer than 2048 characters/],
    ])("to %s is refused", async (target, error) => {
      const reply = await server.client.publish(target);

      expect(reply.error()).toMatch(error);
      expect(reply.status).toBe(400);
    });

    it.each([
      ["a private address", "http://10.0.0.1/"],
      ["a private address in disguise", "http://0xa000001/"],
      ["a private address in full-width digits", "http://%31%30.0.0.1/"],
      ["cloud metadata", "http://169.254.169.254/latest"],
      ["an unspecified address", "http://0.0.0.0:9/"],
      ["an IPv4 address inside IPv6", "http://[64:ff9b::169.254.169.254]/"],
      ["a mapped private address", "http://[::ffff:10.0.0.1]/"],
      ["a unique local address", "http://[fd00:ec2::254]/"],
      ["a multicast address", "http://[ff02::1]/"],
    ])("to %s is refused, since it is not public", async (_, target) => {
      const reply = await server.client.publish(target);

      expect(reply.error()).toMatch(/^invalid destination url: endpoint resolves to /);
      expect(reply.status).toBe(400);
    });

    it.each(["127.0.0.1", "localhost", "[::1]", "127.1", "127.0.0.2", "0x7f000001"])(
      "to our own address, as %s, is refused",
      async (host) => {
        const reply = await server.client.publish(`http://${host}:${server.port}/v2/keys`);

        expect(reply.error()).toBe("invalid destination url: endpoint is this service itself");
        expect(reply.status).toBe(400);
      },
    );

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

  describe("404", () => {
    it("to a URL group that does not exist is refused by name", async () => {
      const reply = await server.client.publish("no.such-group_1");

      expect(reply.status).toBe(404);
      expect(reply.error()).toBe("topic no.such-group_1 not found");
    });
  });

  describe("405", () => {
    it.each(["GET", "PUT", "DELETE", "PATCH"])(
      "by %s is refused, and POST is named",
      async (method) => {
        const reply = await server.client.call(
          method,
          `/v2/publish/${destination.url("/405")}`,
          {},
        );

        expect(reply.status).toBe(405);
        expect(reply.headers["allow"]).toBe("POST");
      },
    );
  });

  it("leaves nothing behind when it is refused", async () => {
    const events = (await server.client.get("/v2/events")).list("events");

    const refused = events.filter(({ url }) => !String(url).includes(`:${destination.port}`));
    expect(refused).toEqual([]);
  });
});

it("400 for api/llm where the operator has set no provider", async () => {
  const reply = await server.client.post("/v2/publish/api/llm", {
    "Service-Callback": destination.url("/answer"),
  });

  expect([reply.status, reply.error()]).toEqual([
    400,
    "invalid destination: api/llm has no provider here, its operator sets one",
  ]);
});
