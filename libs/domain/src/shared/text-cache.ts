/**
 * A cache of values under texts that callers choose, such as time zones, expressions, URLs and names. A cache holds
 * at most `entriesMax` values, none under a text longer than `lengthMax` characters.
 *
 * (1) Texts that mean the same have one key, by `canonical`: spellings cost no entries.
 * (2) A value that was read among the last `entriesMax / 2` texts is still in the cache.
 *
 * Two Maps record the order of use: the older Map is dropped whole when the younger holds half of all entries. So
 * looking up a value in use reads one Map and changes none.
 */
export type TextCacheOptions = {
  readonly entriesMax: number;
  readonly lengthMax: number;
  /** Returns one text for all texts that mean the same; absent if no two do. */
  readonly canonical?: (text: string) => string;
};

export class TextCache<V extends NonNullable<unknown>> {
  readonly #options: TextCacheOptions;
  #young = new Map<string, V>();
  #old = new Map<string, V>();

  constructor(options: TextCacheOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  has(text: string): boolean {
    return this.get(text) !== undefined;
  }

  get(text: string): V | undefined {
    const { canonical, lengthMax } = this.#options;
    if (text.length > lengthMax) return undefined;
    const key = canonical ? canonical(text) : text;
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.#put(key, old);
    return old;
  }

  set(text: string, value: V): void {
    const { canonical, lengthMax } = this.#options;
    if (text.length <= lengthMax) this.#put(canonical ? canonical(text) : text, value);
  }

  delete(text: string): void {
    const { canonical } = this.#options;
    const key = canonical ? canonical(text) : text;
    this.#young.delete(key);
    this.#old.delete(key);
  }

  #put(key: string, value: V): void {
    this.#old.delete(key);
    this.#young.set(key, value);
    if (this.#young.size < this.#options.entriesMax / 2) return;
    this.#old = this.#young;
    this.#young = new Map();
  }
}
