/** Remembers handled messages: a delivery may come twice, after a crash or a lost answer. */

export type Claim = "new" | "handled" | "underway";

/**
 * A store of handled messages.
 * (1) While one claim of an id holds `new`, every other claim of it is answered `underway`.
 * (2) An id released as handled stays `handled` as long as the store can keep it.
 */
export type SeenStore = {
  claim(messageId: string): Promise<Claim> | Claim;
  /** Releases a claim. With `isHandled` false the id may be claimed again. */
  release(messageId: string, isHandled: boolean): Promise<void> | void;
};

/** Returns a store in the memory of this process. Keeps the latest `handledMax` handled ids. */
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
