/** JWT, HS256, made for each attempt (protocol/qstash.md §3). The key is the literal text of `sig_…`. */
import { createHmac, createSecretKey, hash, type KeyObject } from "node:crypto";

const header = Buffer.from('{"alg":"HS256","typ":"JWT"}').toString("base64url");
const keysKept = 1_000;

export class Signer {
  readonly #keys = new Map<string, KeyObject>();

  sign(claims: object, key: string): string {
    const signed = `${header}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}`;
    return `${signed}.${createHmac("sha256", this.#keyOf(key)).update(signed).digest("base64url")}`;
  }

  #keyOf(text: string): KeyObject {
    const kept = this.#keys.get(text);
    if (kept) return kept;
    if (this.#keys.size >= keysKept) this.#keys.clear();
    const key = createSecretKey(Buffer.from(text));
    this.#keys.set(text, key);
    return key;
  }
}

export const bodyHash = (body: Uint8Array): string => hash("sha256", body, "base64url");
