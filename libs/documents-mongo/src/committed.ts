/** How many writes went to the server together, and how long until it had them safe: for metrics. */
export type Committed = (writes: number, seconds: number) => void;

type Run<Item, Answer> = (items: readonly Item[]) => Promise<readonly Answer[]>;

/** A run that failed has committed nothing that is known. */
export function told<Item, Answer>(
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
