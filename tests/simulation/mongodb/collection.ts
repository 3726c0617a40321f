/** A collection as the driver has it, as far as the adapter calls it. */
import { MemoryCursor, type ReadOptions } from "./cursor.ts";
import { type Server, type Statement, type Written } from "./server.ts";
import { projected } from "./projections.ts";
import { type Update } from "./updates.ts";
import { at, found, isList, type Plain } from "./values.ts";

/** Makes a call to the server, over a wire on which anything may happen. */
type Call = <T>(operation: string, effect: () => Promise<T>) => Promise<T>;

export type Client = { readonly server: Server; readonly by: string; readonly call: Call };

export class MemoryCollection {
  readonly collectionName: string;
  readonly #client: Client;

  constructor(name: string, client: Client) {
    this.collectionName = name;
    this.#client = client;
  }

  find(filter: Plain = {}, options: ReadOptions = {}): MemoryCursor {
    return new MemoryCursor(() => this.#read("find", filter), options);
  }
  findOne(filter: Plain, options: ReadOptions = {}): Promise<Plain | null> {
    return this.find(filter, options).limit(1).next();
  }
  async countDocuments(
    filter: Plain = {},
    { limit = Infinity }: ReadOptions = {},
  ): Promise<number> {
    return Math.min((await this.#read("count", filter)).length, limit);
  }
  async distinct(field: string, filter: Plain): Promise<readonly unknown[]> {
    const values = (await this.#read("distinct", filter)).flatMap((each) => found(each, field));
    return [...new Set(values.filter((each) => !isList(each)))];
  }
  /** Groups by a field, and counts. */
  aggregate([{ $match }, { $group }, ...more]: readonly [
    { readonly $match: Plain },
    { readonly $group: Plain },
  ]): MemoryCursor {
    const { _id, ...counted } = $group;
    if (more.length > 0 || Object.values(counted).some((how) => at(how, "$sum") !== 1))
      throw new Error("no such aggregation in memory");
    return new MemoryCursor(async () => {
      const documents = await this.#read("aggregate", $match);
      const groups = Map.groupBy(documents, (each) => at(each, String(_id).slice(1)));
      return [...groups].map(([key, those]) => ({
        _id: key,
        ...Object.fromEntries(Object.keys(counted).map((name) => [name, those.length])),
      }));
    });
  }

  async insertMany(documents: readonly Plain[], { ordered }: { ordered?: boolean } = {}) {
    const statements = documents.map((document) => ({ insertOne: { document } }));
    return this.bulkWrite(statements, { ordered });
  }
  updateOne(filter: Plain, update: Update, options: Plain = {}) {
    return this.#write("updateOne", { filter, update, ...options });
  }
  updateMany(filter: Plain, update: Update, options: Plain = {}) {
    return this.#write("updateMany", { filter, update, ...options });
  }
  replaceOne(filter: Plain, replacement: Plain, options: Plain = {}) {
    return this.#write("replaceOne", { filter, replacement, ...options });
  }
  deleteOne(filter: Plain) {
    return this.#write("deleteOne", { filter });
  }
  deleteMany(filter: Plain = {}) {
    return this.#write("deleteMany", { filter });
  }
  async findOneAndUpdate(
    filter: Plain,
    update: Update,
    {
      projection,
      returnDocument,
    }: { readonly projection?: Plain; readonly returnDocument?: "before" | "after" } = {},
  ): Promise<Plain | null> {
    const { server, by } = this.#client;
    const change = () => server.change(this.collectionName, filter, update, by, returnDocument);
    const found = await this.#call("findOneAndUpdate", change);
    return found ? projected(found, projection) : null;
  }
  async bulkWrite(
    statements: readonly Statement[],
    { ordered = true }: { readonly ordered?: boolean | undefined } = {},
  ): Promise<Written> {
    if (ordered && statements.length > 1) throw new Error("no ordered writes in memory");
    return this.#made("bulkWrite", statements);
  }

  async #made(operation: string, statements: readonly Statement[]): Promise<Written> {
    const { server, by } = this.#client;
    const write = () => server.write(this.collectionName, statements, by);
    const written = await this.#call(operation, write);
    if (written.refused.length > 0) throw refusal(written);
    return written;
  }

  #write(kind: string, asked: Plain): Promise<Written> {
    return this.#made(kind, [{ [kind]: asked }]);
  }

  #read(operation: string, filter: Plain): Promise<readonly Plain[]> {
    const documents = this.#client.server.documents(this.collectionName);
    return this.#call(operation, async () => documents.meeting(filter));
  }

  #call<T>(operation: string, effect: () => Promise<T>): Promise<T> {
    return this.#client.call(`${this.collectionName}.${operation}`, effect);
  }
}

export const duplicateKey = 11_000;

/** Makes the driver's error for an unordered batch with some duplicate documents. */
const refusal = ({ refused, matchedCount }: Written): Error =>
  Object.assign(new Error("E11000 duplicate key"), {
    name: "MongoBulkWriteError",
    writeErrors: refused.map((index) => ({ index, code: duplicateKey })),
    result: { matchedCount, getWriteConcernError: () => undefined },
  });
