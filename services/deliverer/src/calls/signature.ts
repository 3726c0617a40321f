/**
 * Signs attempts with a JWT, HS256 (docs/design/delivery#signatures). The key is the text `sig_…` itself. The MAC is
 * HMAC by its definition (RFC 2104) over one-shot hashes: `createHmac` makes an object with a finalizer for each
 * message, which costs more than the hashing.
 */
import { hash } from "node:crypto";
import { TextCache } from "@posthaste/domain";

const header = Buffer.from('{"alg":"HS256","typ":"JWT"}').toString("base64url");
/** The keys whose pads are kept. A tenant has two keys of about thirty characters. */
const keptKeys = { entriesMax: 2_000, lengthMax: 256 };

/** The block and the digest of SHA-256, in bytes. */
const blockBytes = 64;
const digestBytes = 32;

type Pads = { readonly inner: Uint8Array; readonly outer: Uint8Array };

export class Signer {
  readonly #pads = new TextCache<Pads>(keptKeys);

  sign(claims: object, key: string): string {
    const signed = `${header}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}`;
    return `${signed}.${macOf(signed, this.#padsOf(key))}`;
  }

  #padsOf(key: string): Pads {
    const kept = this.#pads.get(key);
    if (kept) return kept;
    const pads = padsOf(Buffer.from(key));
    this.#pads.set(key, pads);
    return pads;
  }
}

function padsOf(key: Buffer): Pads {
  const block = Buffer.alloc(blockBytes);
  (key.length > blockBytes ? hash("sha256", key, "buffer") : key).copy(block);
  return { inner: block.map((byte) => byte ^ 0x36), outer: block.map((byte) => byte ^ 0x5c) };
}

/** Returns the MAC of an ASCII text. */
function macOf(text: string, { inner, outer }: Pads): string {
  const first = Buffer.allocUnsafe(blockBytes + text.length);
  first.set(inner);
  first.write(text, blockBytes, "latin1");
  const second = Buffer.allocUnsafe(blockBytes + digestBytes);
  second.set(outer);
  second.write(hash("sha256", first, "binary"), blockBytes, "latin1");
  return hash("sha256", second, "base64url");
}

export const bodyHash = (body: Uint8Array): string => hash("sha256", body, "base64url");
