/** Returns how many turns of the event loop `work` takes, and its result. */
export async function turnsOf<T>(work: () => Promise<T>): Promise<{ turns: number; value: T }> {
  let turns = 0;
  let done = false;
  const count = (): void => {
    turns++;
    if (!done) setImmediate(count);
  };
  setImmediate(count);
  const value = await work();
  done = true;
  return { turns, value };
}
