import { describe, expect, it } from "@jest/globals";
import { isFault, limits } from "@posthaste/domain";
import { expectAllGivenBack, heldByWork } from "@posthaste/testing/give-back";
import { turn } from "@posthaste/testing";
import { type AnswerRoom, type AnswerStream, createAnswerRoom } from "./answer-room.ts";

function opened(room: AnswerRoom, owner: string): AnswerStream {
  const stream = room.open(owner);
  if (isFault(stream)) throw new Error(stream.text);
  return stream;
}

const last = (text: string) => ({ text, isLast: true });

/** Takes a seat as soon as there is one, and keeps it until told to leave. */
function sitter(room: AnswerRoom, owner: string) {
  const state = { sits: false, leave: (): void => undefined };
  void opened(room, owner).piece(async () => {
    state.sits = true;
    await new Promise<void>((resolve) => (state.leave = resolve));
    state.sits = false;
    return last("");
  });
  return state;
}

describe("the room for long answers", () => {
  it("has no more taken than its seats, and gives each that is left to what waits longest", async () => {
    const room = createAnswerRoom({ seatsMax: 2, seatsPerOwnerMax: 2 });
    const all = ["a", "b", "c", "d"].map((owner) => sitter(room, owner));
    const sitting = (): boolean[] => all.map(({ sits }) => sits);

    await turn();
    expect(sitting()).toEqual([true, true, false, false]);
    all[1]?.leave();
    await turn();
    expect(sitting()).toEqual([true, false, true, false]);
    all[0]?.leave();
    await turn();
    expect(sitting()).toEqual([false, false, true, true]);
  });

  it("gives an owner its share, and a later owner a seat beside it", async () => {
    const room = createAnswerRoom({ seatsMax: 3, seatsPerOwnerMax: 2 });
    const mine = [0, 1, 2].map(() => sitter(room, "a"));
    const theirs = sitter(room, "b");

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
    const room = createAnswerRoom();
    const mine = Array.from({ length: 4 }, () => sitter(room, "a"));
    const others = Array.from({ length: 12 }, (_, n) => sitter(room, `${n}`));
    await turn();

    const sitting = (all: readonly { readonly sits: boolean }[]): number =>
      all.filter(({ sits }) => sits).length;
    expect([sitting(mine), sitting(others)]).toEqual([3, 5]);
  });

  it("refuses streams beyond its bounds, and takes one again when one is closed", () => {
    const room = createAnswerRoom({ streamsMax: 3, streamsPerOwnerMax: 2 });
    const first = opened(room, "a");
    opened(room, "a");

    expect(room.open("a")).toMatchObject({ fault: "overloaded" });
    opened(room, "b");
    expect(room.open("c")).toMatchObject({ fault: "overloaded" });
    first.close();
    expect(isFault(room.open("a"))).toBe(false);
  });

  it("gives an owner no seat while too much of what it made was not sent, and others theirs", async () => {
    const room = createAnswerRoom({ charsMax: 30, charsPerOwnerMax: 10 });
    const piece = await opened(room, "a").piece(async () => last("x".repeat(10)));
    const mine = sitter(room, "a");
    const theirs = sitter(room, "b");
    await turn();

    expect([mine.sits, theirs.sits]).toEqual([false, true]);
    piece.sent();
    await turn();
    expect(mine.sits).toBe(true);
  });

  it("gives no owner a seat while too much of all was not sent", async () => {
    const room = createAnswerRoom({ charsMax: 15, charsPerOwnerMax: 10 });
    const first = await opened(room, "a").piece(async () => last("x".repeat(9)));
    const second = await opened(room, "b").piece(async () => last("x".repeat(9)));
    const waiting = ["c", "d"].map((owner) => sitter(room, owner));
    await turn();

    expect(waiting.map(({ sits }) => sits)).toEqual([false, false]);
    first.sent();
    second.sent();
    await turn();
    expect(waiting.map(({ sits }) => sits)).toEqual([true, true]);
  });

  it("lets a stream that has begun go on before others of its owner begin, and not before another's", async () => {
    const room = createAnswerRoom({ seatsMax: 1 });
    const stream = opened(room, "a");
    const begun = await stream.piece(async () => ({ text: "x", isLast: false }));
    const [sitting, theirs, mine] = ["a", "b", "a"].map((owner) => sitter(room, owner));
    begun.sent();
    let goesOn = false;
    void stream.piece(async () => ((goesOn = true), last("")));
    await turn();

    sitting?.leave();
    await turn();
    expect([theirs?.sits, goesOn]).toEqual([true, false]);
    theirs?.leave();
    await turn();
    expect([goesOn, mine?.sits]).toEqual([true, true]);
  });

  it("counts what a stream keeps that goes on, however short its text is", async () => {
    const room = createAnswerRoom({ charsPerOwnerMax: limits.pieceBytesMax });
    const begun = await opened(room, "a").piece(async () => ({ text: "x", isLast: false }));
    const mine = sitter(room, "a");
    await turn();

    expect(mine.sits).toBe(false);
    begun.sent();
    await turn();
    expect(mine.sits).toBe(true);
  });

  it("gets a seat back from work that failed", async () => {
    const room = createAnswerRoom({ seatsMax: 1 });
    const failing = opened(room, "a").piece(async () => {
      throw new Error("broken");
    });
    await expect(failing).rejects.toThrow("broken");

    const next = sitter(room, "b");
    await turn();
    expect(next.sits).toBe(true);
  });

  it("has all of its seats, streams and room again, however they were left", async () => {
    const bounds = {
      ...{ charsMax: 20, charsPerOwnerMax: 10, seatsMax: 3, seatsPerOwnerMax: 2 },
      ...{ streamsMax: 12, streamsPerOwnerMax: 8 },
    };
    await expectAllGivenBack(() => {
      const room = createAnswerRoom(bounds);
      const seated = (owner: string) => () => {
        const stream = room.open(owner);
        if (isFault(stream)) return undefined;
        const taken = heldByWork((work) => stream.seated(work));
        const close = (end: () => unknown) => () => {
          end();
          stream.close();
        };
        return { ...taken, giveBack: close(taken.giveBack), fail: close(taken.fail) };
      };
      const made = (owner: string, length: number) => () => {
        const stream = room.open(owner);
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
      const takes = ["a", "b"].flatMap((owner) => [seated(owner), made(owner, 4), made(owner, 10)]);
      return { takes, held: () => undefined };
    });
  });
});
