/** Which messages have been handled: a delivery may come twice, after a crash or an answer that was lost. */

export type Claim = "new" | "handled" | "underway";

/**
 * (1) Of several claims of one id one is answered with `new` until it is released.
 * (2) What was released as handled is `handled` for as long as the store can keep it.
 */
export type SeenStore = {
  claim(messageId: string): Promise<Claim> | Claim;
  /** `isHandled` false: it may be claimed again. */
  release(messageId: string, isHandled: boolean): Promise<void> | void;
};

/** In the memory of this process: the latest that were handled, `handledMax` of them. */
export function memoryStore(handledMax = 10_000): SeenStore {
  const underway = new Set<string>();
  const handled = new Set<string>();
  return {
    claim: (id) => {
      if (handled.has(id)) return "handled";
      if (underway.has(id)) return "underway";
      underway.add(id);
      return "new";
    },
    release: (id, isHandled) => {
      underway.delete(id);
      if (!isHandled) return;
      handled.add(id);
      for (const oldest of handled) {
        if (handled.size <= handledMax) break;
        handled.delete(oldest);
      }
    },
  };
}
