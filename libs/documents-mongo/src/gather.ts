/**
 * Calls that arrive while one is on its way wait for it and go together in the next: one call to the server for all that
 * gathered meanwhile, and no delay when there is nothing to wait for (adr 0002).
 *
 * (1) each caller gets the answers to its own items, in their order.
 * (2) an item that cannot be written fails alone: a refused batch is halved until it is found, unless the server has refused
 *     the whole command.
 * (3) nothing waits without a bound: beyond `waitingMax` items a call is refused as `overloaded`, and at half of that what is new.
 */
import assert from "node:assert/strict";
import { type Intake, isStoreError, StoreError } from "@posthaste/ports";
import { mayBeOfOneItem } from "./failures.ts";

/** `intake`: of items that may be either; those of all other calls go on with something. */
export type Gather<Item, Answer> = (
  items: readonly Item[],
  intake?: Intake,
) => Promise<readonly Answer[]>;

export type GatherOptions<Item> = {
  /** One batch holds so many items and, of those measured by `bytesOf`, so many bytes; one item always fits. */
  readonly itemsMax?: number;
  readonly bytesMax?: number;
  readonly bytesOf?: (item: Item) => number;
  readonly waitingMax?: number;
  /** What a batch waits for before it goes, so that it holds more; for items that no caller is in a hurry about. */
  readonly linger?: () => Promise<void> | undefined;
};

type Call<Answer> = {
  readonly answers: Answer[];
  missing: number;
  readonly resolve: (answers: readonly Answer[]) => void;
  readonly reject: (error: unknown) => void;
};
type Waiting<Item, Answer> = {
  readonly item: Item;
  readonly place: number;
  readonly call: Call<Answer>;
};

/** `run` answers each item in order; doing an item twice must be doing it once. */
export function createGather<Item, Answer>(
  run: (items: readonly Item[]) => Promise<readonly Answer[]>,
  options: GatherOptions<Item> = {},
): Gather<Item, Answer> {
  const { itemsMax = 500, bytesMax = 4 * mebibyte, waitingMax = 50_000 } = options;
  const { bytesOf, linger } = options;
  let waiting: Waiting<Item, Answer>[] = [];
  let draining = false;

  const take = (): readonly Waiting<Item, Answer>[] => {
    let bytes = 0;
    const tooMuch = waiting.findIndex(({ item }, n) => {
      bytes += bytesOf?.(item) ?? 0;
      return n > 0 && (n >= itemsMax || bytes > bytesMax);
    });
    const batch = tooMuch < 0 ? waiting : waiting.slice(0, tooMuch);
    waiting = tooMuch < 0 ? [] : waiting.slice(tooMuch);
    return batch;
  };
  const drain = async (): Promise<void> => {
    while (waiting.length > 0) {
      await linger?.();
      await carryOut(run, take());
    }
    draining = false;
  };

  return (items, intake = "accepted") => {
    if (items.length === 0) return Promise.resolve([]);
    const max = intake === "new" ? waitingMax / 2 : waitingMax;
    if (waiting.length + items.length > max && waiting.length > 0)
      return Promise.reject(new StoreError("overloaded", `${waiting.length} writes wait already`));
    return new Promise((resolve, reject) => {
      const call = { answers: [], missing: items.length, resolve, reject };
      items.forEach((item, place) => waiting.push({ item, place, call }));
      if (draining) return;
      draining = true;
      // What arrives in the same turn goes along.
      setImmediate(() => void drain());
    });
  };
}

async function carryOut<Item, Answer>(
  run: (items: readonly Item[]) => Promise<readonly Answer[]>,
  batch: readonly Waiting<Item, Answer>[],
): Promise<void> {
  try {
    const answers = await run(batch.map(({ item }) => item));
    assert(answers.length === batch.length, "an answer for each item");
    batch.forEach((waiting, n) => tell(waiting, answers[n] as Answer));
  } catch (error) {
    if (batch.length === 1 || isStoreError(error) || !mayBeOfOneItem(error))
      return batch.forEach(({ call }) => call.reject(error));
    const half = batch.length >> 1;
    await carryOut(run, batch.slice(0, half));
    await carryOut(run, batch.slice(half));
  }
}

function tell<Item, Answer>({ call, place }: Waiting<Item, Answer>, answer: Answer): void {
  call.answers[place] = answer;
  call.missing -= 1;
  if (call.missing === 0) call.resolve(call.answers);
}

const mebibyte = 1024 * 1024;
