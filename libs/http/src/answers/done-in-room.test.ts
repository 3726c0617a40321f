import { describe, expect, it } from "@jest/globals";
import { fault, isFault } from "@posthaste/domain";
import { createAnswerRoom } from "./answer-room.ts";
import { doneInRoom, inSeat } from "./done-in-room.ts";

async function* pieces() {
  yield "[]";
}

const openRoom = () => createAnswerRoom({ streamsMax: 1, streamsPerOwnerMax: 1 });

const hasRoom = (room: ReturnType<typeof openRoom>): boolean => {
  const stream = room.open("a");
  if (isFault(stream)) return false;
  stream.close();
  return true;
};

describe("work whose answer may be long", () => {
  it("is refused before it is done, and never after", async () => {
    const room = openRoom();
    const work = async () => ({ status: 200, read: async () => ({ pieces: pieces() }) });

    const done = await doneInRoom(room, "a", work);
    let isDone = false;
    const refused = await doneInRoom(room, "a", async () => {
      isDone = true;
      return work();
    });

    expect(refused).toMatchObject({ fault: "overloaded" });
    expect(isDone).toBe(false);
    expect(hasRoom(room)).toBe(false);
    if (!isFault(done)) done.owner?.close();
    expect(hasRoom(room)).toBe(true);
  });

  it.each<[string, () => Promise<object>]>([
    ["refuses", async () => fault("malformed", "no")],
    ["answers whole", async () => ({ status: 200, text: "{}" })],
    ["throws", () => Promise.reject(new Error("no"))],
  ])("leaves its room when it %s", async (_, work) => {
    const room = openRoom();

    await doneInRoom(room, "a", work).catch(() => undefined);

    expect(hasRoom(room)).toBe(true);
  });
});

describe("work that reads a page", () => {
  it("has a seat while it reads, leaves it when it has or throws, and is refused where too many wait", async () => {
    const room = openRoom();
    const seats: (() => boolean)[] = [];
    const answered = await inSeat(room, "a", async (seat) => {
      seats.push(seat.isTaken);
      const refused = await inSeat(room, "a", async () => "read");
      return [seat.isTaken(), refused];
    });
    await inSeat(room, "a", async (seat) => {
      seats.push(seat.isTaken);
      throw new Error("no");
    }).catch(() => undefined);

    expect(answered).toEqual([true, expect.objectContaining({ fault: "overloaded" })]);
    expect(seats.map((isTaken) => isTaken())).toEqual([false, false]);
    expect(hasRoom(room)).toBe(true);
  });
});
