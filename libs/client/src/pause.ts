/** Resolves after `ms`. Rejects with the signal's reason if it aborts first. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const ended = (): void => {
      clearTimeout(timer);
      // The same value that `throwIfAborted` throws.
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", ended);
      resolve();
    }, ms);
    signal?.addEventListener("abort", ended, { once: true });
  });
