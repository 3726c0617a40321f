const secondsMax = 30;

export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * Waits, a round of the event loop at a time, until `test` holds. Rejects after thirty seconds, so that a broken promise ends its test.
 */
export async function until(test: () => boolean): Promise<void> {
  const endsAt = performance.now() + secondsMax * 1_000;
  while (!test()) {
    if (performance.now() > endsAt)
      throw new Error(`not within ${secondsMax} s: ${test.toString()}`);
    await turn();
  }
}
