/** Turns of lists: of all that are being read one goes on at a time, after what else the event loop had to do. */
export function createTurns(schedule: (task: () => void) => void): () => Promise<void> {
  // No longer than there are lists: each waits once.
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
