import { describe, expect, it } from "@jest/globals";
import { AnswerBody } from "./answer-body.ts";
import { usedBytes } from "./test-kit.ts";

const textOf = (body: AnswerBody): string => Buffer.from(body.bytes).toString();

function bodyOf(chunks: readonly string[], bytesMax: number): AnswerBody {
  const body = new AnswerBody(bytesMax);
  for (const chunk of chunks) body.add(Buffer.from(chunk));
  return body;
}

describe("the body of an answer", () => {
  it.each([
    [[], ""],
    [[""], ""],
    [["all"], "all"],
    [["a", "", "bc", "d"], "abcd"],
    [["exactly te", ""], "exactly te"],
    [["more than ten bytes"], "more than "],
    [["more ", "than ten", " bytes"], "more than "],
  ])("of %j, as far as ten bytes, is %j", (chunks, text) => {
    expect(textOf(bodyOf(chunks, 10))).toBe(text);
  });

  it("says when it has been cut", () => {
    const body = new AnswerBody(3);

    expect(["ab", "c", "d"].map((chunk) => body.add(Buffer.from(chunk)))).toEqual([
      true,
      true,
      false,
    ]);
  });

  it("is not what the next read writes over it", () => {
    const read = Buffer.from("first");
    const body = new AnswerBody(100);
    body.add(read);
    read.fill("x");

    expect(textOf(body)).toBe("first");
  });

  it("of 1 MiB in chunks of one byte takes no more than 3 MiB of memory, the read buffers included", () => {
    const bytesMax = 1_024 * 1_024;
    const readBytes = 65_536;
    // `1 CRLF x CRLF` each.
    const chunkBytes = 6;
    const before = usedBytes();

    const body = new AnswerBody(bytesMax);
    let read = Buffer.alloc(readBytes);
    for (let n = 0, at = 0; n < bytesMax; n++, at += chunkBytes) {
      if (at + chunkBytes > readBytes) {
        read = Buffer.alloc(readBytes);
        at = 0;
      }
      body.add(read.subarray(at, at + 1));
    }

    expect(usedBytes() - before).toBeLessThan(3 * bytesMax);
    expect(body.bytes).toHaveLength(bytesMax);
  });
});
