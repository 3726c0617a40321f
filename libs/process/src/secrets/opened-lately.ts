/** Opens secrets when they are used, so that reading many accounts opens no keys. */
import { TextCache } from "@posthaste/domain";
import { type Sealer } from "./sealer.ts";

/** As many as a signer keeps. A sealed text and its place are about 200 characters. */
const keptSecrets = { entriesMax: 2_000, lengthMax: 1_024 };

/**
 * Opens a text once and keeps recently used ones: each delivery is signed without decrypting anything. Throws at once
 * for a text that was sealed with an unknown key, since a process without the right keys must not seem ready.
 */
export function openedLately({ checkKey, open }: Sealer): Open {
  const kept = new TextCache<string>(keptSecrets);
  return (stored, place) => {
    checkKey(stored, place);
    return () => {
      // A sealed text opens only in its place, kept or not.
      const key = `${place}: ${stored}`;
      const known = kept.get(key);
      if (known !== undefined) return known;
      const opened = open(stored, place);
      kept.set(key, opened);
      return opened;
    };
  };
}

export type Open = (stored: string, place: string) => () => string;
