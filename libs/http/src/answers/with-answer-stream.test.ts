import { describe, expect, it } from "@jest/globals";
import { fault, isFault } from "@posthaste/domain";
import { createAnswerLimiter } from "./answer-limiter.ts";
import { withAnswerStream, withReadPermit } from "./with-answer-stream.ts";

async function* pieces() {
  yield "[]";
}

const openLimiter = () => createAnswerLimiter({ streamsMax: 1, streamsPerOwnerMax: 1 });

const mayOpen = (limiter: ReturnType<typeof openLimiter>): boolean => {
  const stream = limiter.open("a");
  if (isFault(stream)) return false;
  stream.close();
  return true;
};

describe("work whose answer may be long", () => {
  it("is refused before it is done, and never after", async () => {
    const limiter = openLimiter();
    const work = async () => ({ status: 200, read: async () => ({ pieces: pieces() }) });

    const done = await withAnswerStream(limiter, "a", work);
    let isDone = false;
    const refused = await withAnswerStream(limiter, "a", async () => {
      isDone = true;
      return work();
    });

    expect(refused).toMatchObject({ fault: "overloaded" });
    expect(isDone).toBe(false);
    expect(mayOpen(limiter)).toBe(false);
    if (!isFault(done)) done.owner?.close();
    expect(mayOpen(limiter)).toBe(true);
  });

  it.each<[string, () => Promise<object>]>([
    ["refuses", async () => fault("malformed", "no")],
    ["answers whole", async () => ({ status: 200, text: "{}" })],
    ["throws", () => Promise.reject(new Error("no"))],
  ])("closes its stream when it %s", async (_, work) => {
    const limiter = openLimiter();

    await withAnswerStream(limiter, "a", work).catch(() => undefined);

    expect(mayOpen(limiter)).toBe(true);
  });
});

describe("work that reads a page", () => {
  it("holds a permit while it reads, releases it when it returns or throws, and is refused while too many streams are open", async () => {
    const limiter = openLimiter();
    const permits: (() => boolean)[] = [];
    const answered = await withReadPermit(limiter, "a", async (permit) => {
      permits.push(permit.isTaken);
      const refused = await withReadPermit(limiter, "a", async () => "read");
      return [permit.isTaken(), refused];
    });
    await withReadPermit(limiter, "a", async (permit) => {
      permits.push(permit.isTaken);
      throw new Error("no");
    }).catch(() => undefined);

    expect(answered).toEqual([true, expect.objectContaining({ fault: "overloaded" })]);
    expect(permits.map((isTaken) => isTaken())).toEqual([false, false]);
    expect(mayOpen(limiter)).toBe(true);
  });
});
