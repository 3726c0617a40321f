import { describe, expect, it } from "@jest/globals";
import { StoreError } from "@posthaste/ports";
import { turn, until } from "@posthaste/testing";
import { createGather, type GatherOptions } from "./gather.ts";

/** Returns a gather whose run answers each item with its double, once `letGo` is called. */
function gathering(options: GatherOptions<number> = {}) {
  const batches: (readonly number[])[] = [];
  const gates: (() => void)[] = [];
  const gather = createGather<number, number>(async (items) => {
    batches.push(items);
    await new Promise<void>((resolve) => gates.push(resolve));
    return items.map((item) => 2 * item);
  }, options);
  const letGo = async (): Promise<void> => {
    await until(() => gates.length > 0);
    gates.shift()?.();
    await turn();
  };
  return { batches, gather, letGo };
}

/** Returns a gather whose run fails for items above 99, as a server fails a batch in which one item is too large. */
function picky() {
  const batches: (readonly number[])[] = [];
  const gather = createGather<number, number>(async (items) => {
    batches.push(items);
    if (items.some((item) => item > 99)) throw new Error("too large");
    return items;
  });
  return { batches, gather };
}

describe("gathering", () => {
  it("sends items of one turn of the event loop together", async () => {
    const { batches, gather, letGo } = gathering();
    const calls = [gather([1]), gather([2, 3])];
    await letGo();

    expect(await Promise.all(calls)).toEqual([[2], [4, 6]]);
    expect(batches).toEqual([[1, 2, 3]]);
  });

  it("keeps items that arrive during a batch for the next one", async () => {
    const { batches, gather, letGo } = gathering();
    const first = gather([1]);
    await until(() => batches.length > 0);
    const others = [gather([2]), gather([3, 4])];
    await turn();
    expect(batches).toEqual([[1]]);
    await letGo();
    await letGo();

    expect(await Promise.all([first, ...others])).toEqual([[2], [4], [6, 8]]);
    expect(batches).toEqual([[1], [2, 3, 4]]);
  });

  it("waits before each batch for items that are not urgent", async () => {
    let go = (): void => undefined;
    const linger = (): Promise<void> => new Promise((resolve) => (go = resolve));
    const { batches, gather, letGo } = gathering({ linger });
    const first = gather([1]);
    await turn();
    const second = gather([2]);
    await turn();
    expect(batches).toEqual([]);

    go();
    await letGo();

    expect(await Promise.all([first, second])).toEqual([[2], [4]]);
    expect(batches).toEqual([[1, 2]]);
  });

  it("splits by number, and gives a call its answers in order all the same", async () => {
    const { batches, gather, letGo } = gathering({ itemsMax: 2 });
    const answers = Promise.all([gather([1, 2, 3]), gather([4])]);
    await letGo();
    await letGo();

    expect(await answers).toEqual([[2, 4, 6], [8]]);
    expect(batches).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });

  it("splits by size, and lets an item that is larger than a batch go alone", async () => {
    const { batches, gather, letGo } = gathering({ bytesMax: 10, bytesOf: (item) => item });
    const answers = gather([4, 6, 1, 50, 1]);
    for (let batch = 0; batch < 4; batch++) await letGo();

    expect(await answers).toEqual([8, 12, 2, 100, 2]);
    expect(batches).toEqual([[4, 6], [1], [50], [1]]);
  });

  it("answers a call of nothing without a run", async () => {
    const { batches, gather } = gathering();

    expect(await gather([])).toEqual([]);
    expect(batches).toEqual([]);
  });

  it("lets an item that cannot be written fail alone", async () => {
    const { gather } = picky();

    const calls = await Promise.allSettled([
      gather([1, 2]),
      gather([100]),
      gather([3]),
      gather([4]),
    ]);

    expect(calls.map((call) => (call.status === "fulfilled" ? call.value : "failed"))).toEqual([
      [1, 2],
      "failed",
      [3],
      [4],
    ]);
  });

  it("fails a call of which one item cannot be written, and continues", async () => {
    const { gather } = picky();

    await expect(gather([1, 100, 2])).rejects.toThrow("too large");
    expect(await gather([5])).toEqual([5]);
  });

  it("does not try a batch again in parts when the store is away", async () => {
    const batches: (readonly number[])[] = [];
    const gather = createGather<number, number>((items) => {
      batches.push(items);
      return Promise.reject(new StoreError("unavailable", "away"));
    });

    const calls = await Promise.allSettled([gather([1]), gather([2])]);

    expect(calls.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(batches).toEqual([[1, 2]]);
  });

  it("does not try a batch again in parts when the server has refused the command", async () => {
    let calls = 0;
    const gather = createGather<number, number>(() => {
      calls += 1;
      return Promise.reject(Object.assign(new Error("no right"), { name: "MongoServerError" }));
    });

    await expect(gather([1, 2, 3, 4])).rejects.toThrow("no right");

    expect(calls).toBe(1);
  });

  it("refuses new items at half of the bound of items that continue earlier work", async () => {
    const { batches, gather, letGo } = gathering({ waitingMax: 4 });
    const first = gather([1]);
    await until(() => batches.length > 0);
    const second = gather([2, 3], "new");

    await expect(gather([4], "new")).rejects.toMatchObject({ code: "overloaded" });
    const third = gather([4, 5], "accepted");
    await expect(gather([6], "accepted")).rejects.toMatchObject({ code: "overloaded" });

    await letGo();
    await letGo();
    expect(await Promise.all([first, second, third])).toEqual([[2], [4, 6], [8, 10]]);
  });

  it("refuses items beyond its bound as overloaded, and takes more when others have ended", async () => {
    const { batches, gather, letGo } = gathering({ waitingMax: 2 });
    const first = gather([1]);
    await until(() => batches.length > 0);
    const second = gather([2, 3]);

    await expect(gather([4])).rejects.toMatchObject({ name: "StoreError", code: "overloaded" });

    await letGo();
    const fourth = gather([4]);
    await letGo();
    await letGo();
    expect(await Promise.all([first, second, fourth])).toEqual([[2], [4, 6], [8]]);
  });
});
