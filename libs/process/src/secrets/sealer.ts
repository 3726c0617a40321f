/**
 * Sealing: secrets that must be shown or used again are stored only encrypted with AES-256-GCM, under a key that the
 * store does not have (docs/design/security#secrets).
 *
 * (1) a sealed text opens only in the place that it was sealed for, so that two of them cannot be swapped in the
 *     store.
 */
import { createCipheriv, createDecipheriv, hash, randomBytes } from "node:crypto";

export type Sealer = {
  /** `place` says where the text is kept, in the caller's words. */
  readonly seal: (text: string, place: string) => string;
  /** Returns the secret. Throws when no key opens the text. */
  readonly open: (stored: string, place: string) => string;
  /** Throws for a text that is not sealed, or with an unknown key. Reads the text's beginning and opens nothing. */
  readonly checkKey: (stored: string, place: string) => void;
  /** Reports whether the text is sealed with the key that seals now. */
  readonly isFresh: (stored: string) => boolean;
};

const algorithm = "aes-256-gcm";
const prefix = "posthaste-sealed.1.";
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const keyIdLength = 8;

/** `keys`: each 32 bytes. The first seals, all open. */
export function createSealer(keys: readonly Uint8Array[]): Sealer {
  const [first] = keys;
  if (!first) throw new Error("a sealer needs at least one key");
  if (keys.some(({ length }) => length !== keyBytes))
    throw new Error(`a sealing key has ${keyBytes} bytes`);
  const keysById = new Map(keys.map((key) => [keyIdOf(key), key]));
  const freshPrefix = `${prefix}${keyIdOf(first)}.`;

  const keyOf = (stored: string, place: string): Uint8Array => {
    if (!stored.startsWith(prefix)) throw new Error(`${place} is not sealed`);
    const keyId = stored.slice(prefix.length, prefix.length + keyIdLength);
    const key = keysById.get(keyId);
    if (!key) throw new Error(`${place} was sealed with the key ${keyId}, which is not configured`);
    return key;
  };

  return {
    seal: (text, place) => freshPrefix + encrypt(first, text, place),
    open: (stored, place) =>
      decrypt(keyOf(stored, place), stored.slice(prefix.length + keyIdLength + 1), place),
    checkKey: (stored, place) => void keyOf(stored, place),
    isFresh: (stored) => stored.startsWith(freshPrefix),
  };
}

/** Returns an id that tells keys apart without revealing them: they are random. */
const keyIdOf = (key: Uint8Array): string => hash("sha256", key, "hex").slice(0, keyIdLength);

function encrypt(key: Uint8Array, text: string, place: string): string {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(place));
  const sealed = [cipher.update(text, "utf8"), cipher.final()];
  return Buffer.concat([nonce, ...sealed, cipher.getAuthTag()]).toString("base64url");
}

function decrypt(key: Uint8Array, sealed: string, place: string): string {
  const bytes = Buffer.from(sealed, "base64url");
  const nonce = bytes.subarray(0, nonceBytes);
  const tag = bytes.subarray(-tagBytes);
  try {
    const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes })
      .setAAD(Buffer.from(place))
      .setAuthTag(tag);
    const text = decipher.update(bytes.subarray(nonceBytes, -tagBytes));
    return Buffer.concat([text, decipher.final()]).toString("utf8");
  } catch (cause) {
    throw new Error(`${place} is damaged, or was sealed for another place`, { cause });
  }
}
