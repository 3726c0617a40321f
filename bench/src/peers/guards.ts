/** The least that a deduplication id and a flow key add to a message: an id and a slot, both in Redis, many at once. */
import { Redis } from "ioredis";
import { gather } from "./gather.ts";

const batchMax = 500;
const windowMs = 600_000;
const slotsMax = 1_000;
const againMs = 5;

/** Takes as many of these ids as there are free slots, in their order. */
const acquire = `
  local free = tonumber(ARGV[1]) - redis.call("ZCARD", KEYS[1])
  local count = math.min(free, #ARGV - 2)
  for i = 1, count do redis.call("ZADD", KEYS[1], ARGV[2], ARGV[i + 2]) end
  return math.max(count, 0)`;

type Asked = { readonly id: string; readonly done: () => void };

export class Guards {
  readonly #redis: Redis;
  readonly #slots: string;
  readonly #ids: string;
  #waiting: Asked[] = [];
  #isAsking = false;

  constructor(url: string, room: string) {
    this.#redis = new Redis(url);
    this.#slots = `${room}:slots`;
    this.#ids = `${room}:ids:`;
  }

  /** Claims ids. All are new, since the load repeats none. */
  readonly claim = gather<Asked>(batchMax, async (asked) => {
    const pipeline = this.#redis.pipeline();
    for (const { id } of asked) pipeline.set(this.#ids + id, "", "PX", windowMs, "NX");
    await pipeline.exec();
    for (const { done } of asked) done();
  });

  acquire(asked: Asked): void {
    this.#waiting.push(asked);
    if (this.#isAsking) return;
    this.#isAsking = true;
    setImmediate(() => void this.#ask());
  }

  readonly release = gather<string>(batchMax, async (ids) => {
    await this.#redis.zrem(this.#slots, ...ids);
  });

  async #ask(): Promise<void> {
    while (this.#waiting.length > 0) {
      const ids = this.#waiting.slice(0, batchMax).map(({ id }) => id);
      const args = [this.#slots, slotsMax, Date.now(), ...ids];
      const count = Number(await this.#redis.eval(acquire, 1, ...args));
      for (const { done } of this.#waiting.splice(0, count)) done();
      if (count === 0) await new Promise((resolve) => setTimeout(resolve, againMs));
    }
    this.#isAsking = false;
  }
}
