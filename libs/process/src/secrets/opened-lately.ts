/** Opens secrets when they are used, so that reading many accounts opens no keys. */
import { TextCache } from "@posthaste/domain";
import { type Sealer } from "./sealer.ts";

/** As many as a signer keeps. A sealed text and its place are about 200 characters. */
const keptSecrets = { entriesMax: 2_000, lengthMax: 1_024 };

/** Returns secrets whose members are opened when they are read. `placeOf`: the place for which a member was sealed. */
export type Open = <Secrets extends Readonly<Record<string, string>>>(
  sealed: Secrets,
  placeOf: (name: string) => string,
) => Secrets;

/**
 * Opens a text once and keeps recently used ones: each delivery is signed without decrypting anything. Throws at once
 * for a text that was sealed with an unknown key, since a process without the right keys must not seem ready.
 */
export function openedLately({ checkKey, open }: Sealer): Open {
  const kept = new TextCache<string>(keptSecrets);
  return (sealed, placeOf) => {
    const secrets = { ...sealed };
    for (const [name, stored] of Object.entries(sealed)) {
      const place = placeOf(name);
      checkKey(stored, place);
      // A sealed text opens only in its place, kept or not.
      const key = `${place}: ${stored}`;
      const get = (): string => {
        const known = kept.get(key);
        if (known !== undefined) return known;
        const opened = open(stored, place);
        kept.set(key, opened);
        return opened;
      };
      Object.defineProperty(secrets, name, { get });
    }
    return secrets;
  };
}
