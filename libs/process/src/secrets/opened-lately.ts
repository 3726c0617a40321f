/** Secrets opened when they are used: a reader of many accounts opens the keys of none. */
import { asWritten, TextCache } from "@posthaste/domain";
import { type Sealer } from "./sealer.ts";

/** As many as a signer keeps. A sealed text and its place are about 200 characters. */
const keptSecrets = { entriesMax: 2_000, lengthMax: 1_024, canonical: asWritten };

/** Opens a text once and keeps what was used lately: each delivery is signed, and decrypts nothing. */
export function openedLately({ open }: Sealer): Sealer["open"] {
  const kept = new TextCache<string>(keptSecrets);
  return (stored, place) => {
    // A sealed text opens in its place alone, kept or not.
    const key = `${place}: ${stored}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const opened = open(stored, place);
    kept.set(key, opened);
    return opened;
  };
}
