import { describe, expect, it } from "@jest/globals";
import { HttpReader } from "./http-reader.ts";

const answer = (body: string) =>
  `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\nX-Y: z\r\n\r\n${body}`;

function bodiesOf(chunks: readonly string[]): string[] {
  const bodies: string[] = [];
  const reader = new HttpReader((bytes, _start, bodyStart, end) => {
    bodies.push(bytes.toString("latin1", bodyStart, end));
  });
  for (const chunk of chunks) reader.push(Buffer.from(chunk));
  return bodies;
}

describe("HttpReader", () => {
  it("finds the same messages wherever the stream is cut", () => {
    const stream = answer("one") + answer("") + answer("three");

    for (let cut = 0; cut <= stream.length; cut++) {
      expect(bodiesOf([stream.slice(0, cut), stream.slice(cut)])).toEqual(["one", "", "three"]);
    }
  });

  it("finds the messages of a stream that comes byte by byte", () => {
    expect(bodiesOf([...(answer("ab") + answer("cd"))])).toEqual(["ab", "cd"]);
  });

  it("takes a message without a length as one without a body", () => {
    expect(bodiesOf(["GET / HTTP/1.1\r\nHost: x\r\n\r\n"])).toEqual([""]);
  });

  it("joins the chunks of a body, wherever the stream is cut", () => {
    const head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    const stream = `${head}3\r\none\r\nb\r\n, and more.\r\n0\r\n\r\n${answer("two")}${head}0\r\n\r\n`;

    for (let cut = 0; cut <= stream.length; cut++) {
      const bodies = bodiesOf([stream.slice(0, cut), stream.slice(cut)]);
      expect(bodies).toEqual(["one, and more.", "two", ""]);
    }
  });

  it("refuses a chunk without a size instead of miscounting it", () => {
    const head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    expect(() => bodiesOf([`${head}x\r\n\r\n`])).toThrow("a chunk without a size");
  });
});
