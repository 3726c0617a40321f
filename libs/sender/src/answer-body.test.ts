import { describe, expect, it } from "@jest/globals";
import { AnswerBody, unbudgetedBytes } from "./call.ts";
import { usedBytes } from "./test-kit.ts";

const roomy = { takeBytes: () => true };

/** Grants this many bytes and no more. */
function roomOf(bytes: number) {
  let left = bytes;
  return {
    takeBytes: (more: number): boolean => {
      if (more > left) return false;
      left -= more;
      return true;
    },
    left: () => left,
  };
}

const textOf = (body: AnswerBody): string => Buffer.from(body.bytes).toString();

function bodyOf(chunks: readonly string[], bytesMax: number): AnswerBody {
  const body = new AnswerBody(bytesMax);
  for (const chunk of chunks) body.add(Buffer.from(chunk), roomy);
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

    expect(["ab", "c", "d"].map((chunk) => body.add(Buffer.from(chunk), roomy))).toEqual([
      true,
      true,
      false,
    ]);
  });

  it("is not overwritten by the next read", () => {
    const read = Buffer.from("first");
    const body = new AnswerBody(100);
    body.add(read, roomy);
    read.fill("x");

    expect(textOf(body)).toBe("first");
  });

  it.each([1, 1_000, 65_536])(
    "is given bytes for what is beyond 16 KiB, of chunks of %i, and is cut where there are none",
    (chunkBytes) => {
      const chunk = Buffer.alloc(chunkBytes);
      const fill = (body: AnswerBody, room: ReturnType<typeof roomOf>): number => {
        while (body.add(chunk, room) && body.bytes.length < 1_000_000);
        return body.bytes.length;
      };
      const [none, some, all] = [roomOf(0), roomOf(100_000), roomOf(2_000_000)];
      const bodies = [none, some, all].map((room) => {
        const body = new AnswerBody(500_000);
        return { given: body, length: fill(body, room), room };
      });

      expect(bodies.map(({ length }) => length)).toEqual([
        unbudgetedBytes,
        expect.any(Number),
        500_000,
      ]);
      for (const { given, length, room } of bodies) {
        expect(length).toBeLessThanOrEqual(unbudgetedBytes + given.given);
        expect(given.given + room.left()).toBe(
          room === none ? 0 : room === some ? 100_000 : 2_000_000,
        );
      }
    },
  );

  it("of 1 MiB in chunks of one byte takes no more than 3 MiB of memory, the read buffers included", () => {
    const bytesMax = 1_024 * 1_024;
    const readBytes = 65_536;
    // The bytes of `1 CRLF x CRLF`.
    const chunkBytes = 6;
    const before = usedBytes();

    const body = new AnswerBody(bytesMax);
    let read = Buffer.alloc(readBytes);
    for (let n = 0, at = 0; n < bytesMax; n++, at += chunkBytes) {
      if (at + chunkBytes > readBytes) {
        read = Buffer.alloc(readBytes);
        at = 0;
      }
      body.add(read.subarray(at, at + 1), roomy);
    }

    expect(usedBytes() - before).toBeLessThan(3 * bytesMax);
    expect(body.bytes).toHaveLength(bytesMax);
  });
});
