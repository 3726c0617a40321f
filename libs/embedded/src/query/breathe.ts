/** Lets one of the lists that are being read continue at a time, after the other work of the event loop. */
export function createBreathe(schedule: (task: () => void) => void): () => Promise<void> {
  // Bounded by the number of lists: each waits once.
  const waiting: (() => void)[] = [];
  const next = (): void => {
    waiting.shift()?.();
    if (waiting.length > 0) schedule(next);
  };
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 1) schedule(next);
    });
}
