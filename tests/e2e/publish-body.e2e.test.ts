/** Tests bodies (docs/design/wire#bodies): bytes in, the same bytes out, up to the plan's limit. */
import { hash, randomBytes } from "node:crypto";
import { request } from "node:http";
import { describe, expect, it } from "@jest/globals";
import { answerTo, rawRequest } from "./raw-socket.ts";
import { developmentToken } from "./server-process.ts";
import { client, destination, server, startBeforeTests } from "./suite.ts";

const mebibyte = 1024 * 1024;
const bodyBytesMax = 10 * mebibyte;

startBeforeTests();

const sha256 = (bytes: Uint8Array): string => hash("sha256", bytes, "hex");

describe("a publish", () => {
  describe("200", () => {
    it.each([
      ["no bytes", Buffer.alloc(0)],
      ["bytes that are no UTF-8", Buffer.from([0xff, 0x00, 0xfe, 0xc3])],
      ["a byte order mark", Buffer.from("\uFEFFx")],
      ["a lone surrogate in UTF-8", Buffer.from([0xed, 0xa0, 0x80])],
      ["line ends of all kinds", Buffer.from("a\r\nb\nc\r\r\n")],
      ["what looks like an HTTP request", Buffer.from("0\r\n\r\nGET / HTTP/1.1\r\n\r\n")],
      ["deep JSON", Buffer.from("[".repeat(100_000))],
      ["1 MiB", randomBytes(mebibyte)],
      ["the plan's limit", randomBytes(bodyBytesMax)],
    ])("delivers %s unchanged", async (what, body) => {
      const path = `/bytes/${encodeURIComponent(what)}`;

      await client.published(destination.url(path), {}, body);

      const arrival = await destination.arrival(path);
      expect(arrival.body.length).toBe(body.length);
      expect(sha256(arrival.body)).toBe(sha256(body));
      expect(arrival.headers["content-length"]).toBe(String(body.length));
    });

    it("delivers no Content-Type when the publish has none", async () => {
      await client.published(destination.url("/no-type"), {}, '{"json":1}');

      const { headers } = await destination.arrival("/no-type");
      expect(headers["content-type"]).toBeUndefined();
    });

    it("delivers a body that came in chunks, without a length", async () => {
      await chunked(destination.url("/chunked"), ["one ", "two ", "three"]);

      expect((await destination.arrival("/chunked")).body.toString()).toBe("one two three");
    });
  });

  describe("413", () => {
    it("refuses one byte more than the limit, and closes the connection", async () => {
      const body = randomBytes(bodyBytesMax + 1);

      const reply = await client.publish(destination.url("/too-large"), {}, body);

      expect(reply.status).toBe(413);
      expect(reply.headers["connection"]).toBe("close");
      expect(reply.error()).toMatch(/maxMessageSize.*10485760 bytes/);
    });

    it("counts the bytes that arrive when no length was declared", async () => {
      const parts = Array.from({ length: 11 }, () => randomBytes(mebibyte));

      const status = await chunked(destination.url("/too-large"), parts);

      expect(status).toBe(413);
    });

    it("refuses a larger declared length before any byte of the body", async () => {
      const line = `POST /v2/publish/${destination.url("/too-large")} HTTP/1.1`;
      const headers = [`Content-Length: ${bodyBytesMax + 1}`, "Expect: 100-continue"];

      const answer = await answerTo(server.port, rawRequest(line, headers));

      expect(answer.status).toBe(413);
    });

    it("leaves no trace of a refused publish", async () => {
      const url = encodeURIComponent(destination.url("/too-large"));

      expect(await client.listed(`/v2/events?url=${url}`, "events")).toEqual([]);
      expect(destination.at("/too-large")).toEqual([]);
    });
  });
});

describe("a message", () => {
  const read = async (body: Uint8Array) => {
    const id = await client.published("http://127.0.0.1:9/", { "Service-Delay": "1h" }, body);
    const message = (await client.get(`/v2/messages/${id}`)).object();
    return { body: message["body"], bodyBase64: message["bodyBase64"] };
  };

  it.each([
    ["UTF-8 is read as text", Buffer.from("żółw 🐢"), { body: "żółw 🐢" }],
    ["a byte order mark keeps it", Buffer.from("\uFEFFx"), { body: "\uFEFFx" }],
    [
      "bytes that are no UTF-8 are read as base64",
      Buffer.from([0x61, 0xff]),
      { bodyBase64: "Yf8=" },
    ],
    ["an empty body has neither field", Buffer.alloc(0), {}],
  ])("%s", async (_, body, expected) => {
    expect(await read(body)).toEqual(expected);
  });
});

function chunked(url: string, parts: readonly (string | Uint8Array)[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: "127.0.0.1",
        port: server.port,
        method: "POST",
        path: `/v2/publish/${url}`,
        headers: { authorization: `Bearer ${developmentToken}` },
        agent: false,
      },
      (response) => {
        response.resume().on("end", () => resolve(response.statusCode ?? 0));
      },
    );
    sent.on("error", reject);
    for (const part of parts) sent.write(part);
    sent.end();
  });
}
