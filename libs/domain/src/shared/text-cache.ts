/**
 * Values by a text that a caller chooses, kept so that the next caller finds them made: time zones, expressions, URLs,
 * names. Whatever callers choose, a cache holds at most `entriesMax` values, none under a text of more than `lengthMax`
 * characters.
 *
 * (1) texts that mean the same have one key, by `canonical`: spellings cost no entries.
 * (2) a value that was asked for among the last `entriesMax / 2` texts is still there.
 *
 * Two Maps stand for the order of use: the older one is dropped whole when the younger is half of all. So a look-up of
 * a value in use is one look at a Map, and changes none.
 */
export type TextCacheOptions = {
  readonly entriesMax: number;
  readonly lengthMax: number;
  /** One text for all that mean the same; `asWritten` where none do. */
  readonly canonical: (text: string) => string;
};

export const asWritten = (text: string): string => text;

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
    if (text.length > this.#options.lengthMax) return undefined;
    const key = this.#options.canonical(text);
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.#put(key, old);
    return old;
  }

  set(text: string, value: V): void {
    if (text.length <= this.#options.lengthMax) this.#put(this.#options.canonical(text), value);
  }

  delete(text: string): void {
    const key = this.#options.canonical(text);
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
