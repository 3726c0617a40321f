import { describe, expect, it } from "@jest/globals";
import { isFault, limits } from "@posthaste/domain";
import { expectAllGivenBack, heldByWork } from "@posthaste/testing/give-back";
import { turn } from "@posthaste/testing";
import { type AnswerLimiter, type AnswerStream, createAnswerLimiter } from "./answer-limiter.ts";

function opened(limiter: AnswerLimiter, owner: string): AnswerStream {
  const stream = limiter.open(owner);
  if (isFault(stream)) throw new Error(stream.text);
  return stream;
}

const last = (text: string) => ({ text, isLast: true });

/** Takes a permit as soon as there is one, and keeps it until told to leave. */
function waitingRead(limiter: AnswerLimiter, owner: string) {
  const state = { sits: false, leave: (): void => undefined };
  void opened(limiter, owner).piece(async () => {
    state.sits = true;
    await new Promise<void>((resolve) => (state.leave = resolve));
    state.sits = false;
    return last("");
  });
  return state;
}

describe("the limiter of long answers", () => {
  it("gives no more permits than `readsMax`, and each released permit to the stream that waits longest", async () => {
    const limiter = createAnswerLimiter({ readsMax: 2, readsPerOwnerMax: 2 });
    const all = ["a", "b", "c", "d"].map((owner) => waitingRead(limiter, owner));
    const reading = (): boolean[] => all.map(({ sits }) => sits);

    await turn();
    expect(reading()).toEqual([true, true, false, false]);
    all[1]?.leave();
    await turn();
    expect(reading()).toEqual([true, false, true, false]);
    all[0]?.leave();
    await turn();
    expect(reading()).toEqual([false, false, true, true]);
  });

  it("gives an owner its share, and a later owner a permit beside it", async () => {
    const limiter = createAnswerLimiter({ readsMax: 3, readsPerOwnerMax: 2 });
    const mine = [0, 1, 2].map(() => waitingRead(limiter, "a"));
    const theirs = waitingRead(limiter, "b");

    await turn();
    expect(mine.map(({ sits }) => sits)).toEqual([true, true, false]);
    expect(theirs.sits).toBe(true);
    theirs.leave();
    await turn();
    expect(mine.map(({ sits }) => sits)).toEqual([true, true, false]);
    mine[0]?.leave();
    await turn();
    expect(mine.map(({ sits }) => sits)).toEqual([false, true, true]);
  });

  it("by default has eight taken, whose pieces are large, and three of one owner", async () => {
    const limiter = createAnswerLimiter();
    const mine = Array.from({ length: 4 }, () => waitingRead(limiter, "a"));
    const others = Array.from({ length: 12 }, (_, n) => waitingRead(limiter, `${n}`));
    await turn();

    const reading = (all: readonly { readonly sits: boolean }[]): number =>
      all.filter(({ sits }) => sits).length;
    expect([reading(mine), reading(others)]).toEqual([3, 5]);
  });

  it("refuses streams beyond its bounds, and takes one again when one is closed", () => {
    const limiter = createAnswerLimiter({ streamsMax: 3, streamsPerOwnerMax: 2 });
    const first = opened(limiter, "a");
    opened(limiter, "a");

    expect(limiter.open("a")).toMatchObject({ fault: "overloaded" });
    opened(limiter, "b");
    expect(limiter.open("c")).toMatchObject({ fault: "overloaded" });
    first.close();
    expect(isFault(limiter.open("a"))).toBe(false);
  });

  it("gives an owner no permit while too much of its text is unsent, and others theirs", async () => {
    const limiter = createAnswerLimiter({ charsMax: 30, charsPerOwnerMax: 10 });
    const piece = await opened(limiter, "a").piece(async () => last("x".repeat(10)));
    const mine = waitingRead(limiter, "a");
    const theirs = waitingRead(limiter, "b");
    await turn();

    expect([mine.sits, theirs.sits]).toEqual([false, true]);
    piece.sent();
    await turn();
    expect(mine.sits).toBe(true);
  });

  it("gives no owner a permit while too much text of all owners is unsent", async () => {
    const limiter = createAnswerLimiter({ charsMax: 15, charsPerOwnerMax: 10 });
    const first = await opened(limiter, "a").piece(async () => last("x".repeat(9)));
    const second = await opened(limiter, "b").piece(async () => last("x".repeat(9)));
    const waiting = ["c", "d"].map((owner) => waitingRead(limiter, owner));
    await turn();

    expect(waiting.map(({ sits }) => sits)).toEqual([false, false]);
    first.sent();
    second.sent();
    await turn();
    expect(waiting.map(({ sits }) => sits)).toEqual([true, true]);
  });

  it("lets a stream that has begun continue before others of its owner begin, and not before another's", async () => {
    const limiter = createAnswerLimiter({ readsMax: 1 });
    const stream = opened(limiter, "a");
    const begun = await stream.piece(async () => ({ text: "x", isLast: false }));
    const [reading, theirs, mine] = ["a", "b", "a"].map((owner) => waitingRead(limiter, owner));
    begun.sent();
    let goesOn = false;
    void stream.piece(async () => ((goesOn = true), last("")));
    await turn();

    reading?.leave();
    await turn();
    expect([theirs?.sits, goesOn]).toEqual([true, false]);
    theirs?.leave();
    await turn();
    expect([goesOn, mine?.sits]).toEqual([true, true]);
  });

  it("counts the data that a continuing stream keeps, however short its text is", async () => {
    const limiter = createAnswerLimiter({ charsPerOwnerMax: limits.pieceBytesMax });
    const begun = await opened(limiter, "a").piece(async () => ({ text: "x", isLast: false }));
    const mine = waitingRead(limiter, "a");
    await turn();

    expect(mine.sits).toBe(false);
    begun.sent();
    await turn();
    expect(mine.sits).toBe(true);
  });

  it("gets a permit back from work that failed", async () => {
    const limiter = createAnswerLimiter({ readsMax: 1 });
    const failing = opened(limiter, "a").piece(async () => {
      throw new Error("broken");
    });
    await expect(failing).rejects.toThrow("broken");

    const next = waitingRead(limiter, "b");
    await turn();
    expect(next.sits).toBe(true);
  });

  it("has all of its permits, streams and characters again, however they were released", async () => {
    const bounds = {
      ...{ charsMax: 20, charsPerOwnerMax: 10, readsMax: 3, readsPerOwnerMax: 2 },
      ...{ streamsMax: 12, streamsPerOwnerMax: 8 },
    };
    await expectAllGivenBack(() => {
      const limiter = createAnswerLimiter(bounds);
      const withPermit = (owner: string) => () => {
        const stream = limiter.open(owner);
        if (isFault(stream)) return undefined;
        const taken = heldByWork((work) => stream.withPermit(work));
        const close = (end: () => unknown) => () => {
          end();
          stream.close();
        };
        return { ...taken, giveBack: close(taken.giveBack), fail: close(taken.fail) };
      };
      const made = (owner: string, length: number) => () => {
        const stream = limiter.open(owner);
        if (isFault(stream)) return undefined;
        let isOver = false;
        let leave: (() => void) | undefined;
        void stream
          .piece(async () => last("x".repeat(length)))
          .then(({ sent }) => {
            leave = sent;
            if (isOver) sent();
          });
        const giveBack = () => {
          isOver = true;
          leave?.();
          stream.close();
        };
        return { giveBack, isHeld: () => leave !== undefined && !isOver };
      };
      const takes = ["a", "b"].flatMap((owner) => [
        withPermit(owner),
        made(owner, 4),
        made(owner, 10),
      ]);
      return { takes, held: () => undefined };
    });
  });
});
