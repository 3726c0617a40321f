import { projected } from "./projections.ts";
import { at, compare, type Plain } from "./values.ts";

export type ReadOptions = {
  readonly projection?: Plain;
  readonly sort?: Plain;
  readonly limit?: number;
  readonly skip?: number;
};

type Mapped = (document: Plain) => Plain;

/** A cursor of the driver. Reads once, when its documents are requested. */
export class MemoryCursor {
  readonly #read: () => Promise<readonly Plain[]>;
  #options: ReadOptions;
  #mapped: Mapped = (document) => document;

  constructor(read: () => Promise<readonly Plain[]>, options: ReadOptions = {}) {
    this.#read = read;
    this.#options = options;
  }

  sort(sort: Plain): this {
    return this.#with({ sort });
  }
  limit(limit: number): this {
    return this.#with({ limit });
  }
  skip(skip: number): this {
    return this.#with({ skip });
  }
  project(projection: Plain): this {
    return this.#with({ projection });
  }
  map(mapped: Mapped): this {
    this.#mapped = mapped;
    return this;
  }
  batchSize(): this {
    return this;
  }
  maxTimeMS(): this {
    return this;
  }
  hint(): this {
    return this;
  }

  async toArray(): Promise<Plain[]> {
    const { sort, limit = 0, skip = 0, projection } = this.#options;
    const read = await this.#read();
    const all = sort ? read.toSorted(inOrder(sort)) : read;
    return all
      .slice(skip, limit === 0 ? undefined : skip + limit)
      .map((document) => this.#mapped(projected(document, projection)));
  }
  async next(): Promise<Plain | null> {
    return (await this.toArray())[0] ?? null;
  }
  async *[Symbol.asyncIterator](): AsyncGenerator<Plain> {
    yield* await this.toArray();
  }

  #with(options: ReadOptions): this {
    this.#options = { ...this.#options, ...options };
    return this;
  }
}

/** Sorts a missing value as null. */
function inOrder(sort: Plain): (a: Plain, b: Plain) => number {
  const by = Object.entries(sort);
  return (a, b) => {
    for (const [path, direction] of by) {
      const order = compare(at(a, path) ?? null, at(b, path) ?? null) * Number(direction);
      if (order !== 0) return order;
    }
    return 0;
  };
}
