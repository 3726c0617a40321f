/** Receives, for metrics, how many writes went to the server together and after how many seconds they were durable. */
export type Committed = (writes: number, seconds: number) => void;

type Run<Item, Answer> = (items: readonly Item[]) => Promise<readonly Answer[]>;

/** Wraps `run` so that `committed` is called after each success. A failed run is not reported: perhaps nothing was committed. */
export function reporting<Item, Answer>(
  run: Run<Item, Answer>,
  committed: Committed | undefined,
): Run<Item, Answer> {
  if (!committed) return run;
  return async (items) => {
    const begunAt = performance.now();
    const answers = await run(items);
    committed(items.length, (performance.now() - begunAt) / 1_000);
    return answers;
  };
}
