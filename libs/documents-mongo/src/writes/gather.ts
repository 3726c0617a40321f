/**
 * Gathers calls that arrive while one is under way and sends them to the server together: one call for all, without
 * delay when there is nothing to wait for (ADR 2).
 *
 * (1) each caller gets the answers to its own items, in their order.
 * (2) an item that cannot be written fails alone: a refused batch is halved until the item is found, unless the
 *     server has refused the whole command.
 * (3) waiting is bounded: beyond `waitingMax` items a call is refused as `overloaded`, and beyond half of that if its
 *     items are new work.
 */
import assert from "node:assert/strict";
import { type Intake, isStoreError, StoreError } from "@posthaste/ports";
import { mayBeOfOneItem } from "../link/failures.ts";

/** `intake` says whether the items are new work. Without it they continue accepted work. */
export type Gather<Item, Answer> = (
  items: readonly Item[],
  intake?: Intake,
) => Promise<readonly Answer[]>;

export type GatherOptions<Item> = {
  /** The bounds of a batch, in items and in bytes by `bytesOf`; one item always fits. */
  readonly itemsMax?: number;
  readonly bytesMax?: number;
  readonly bytesOf?: (item: Item) => number;
  readonly waitingMax?: number;
  /** Waits before each batch, so that the batch holds more. For items that no caller waits for. */
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

/** `run` answers each item, in order. Doing an item twice must have the effect of doing it once. */
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
      return Promise.reject(new StoreError("overloaded", `${waiting.length} writes are waiting`));
    return new Promise((resolve, reject) => {
      const call = { answers: [], missing: items.length, resolve, reject };
      items.forEach((item, place) => waiting.push({ item, place, call }));
      if (draining) return;
      draining = true;
      // Calls of the same turn of the event loop join this batch.
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
