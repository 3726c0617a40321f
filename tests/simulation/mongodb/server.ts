/**
 * The server: collections in memory, and its operations on them. Reads are of one moment, writes of one document
 * each.
 *
 * (1) a statement that changes several documents lets others run before each of them, and may end there.
 * (2) documents are replaced whole, and never changed.
 */
import { meeting, type Meets } from "./filters.ts";
import { updated, type Update } from "./updates.ts";
import { isList, isPlain, type Plain, put, sent } from "./values.ts";

/** A write as a client requests it: an insert of a document, an update, a replacement, or else a removal. */
export type Write = {
  readonly collection: string;
  readonly filter: Plain;
  readonly update?: Update;
  readonly replacement?: Plain;
  readonly document?: Plain;
};

/** Returns the write that is made instead, for a planted bug; undefined for one that is acknowledged and not made. */
export type Instead = (write: Write) => Write | undefined;

/** A document before and after a write: made if `before` is absent, removed if `after` is. */
export type Change = {
  readonly collection: string;
  readonly id: unknown;
  readonly before: Plain | undefined;
  readonly after: Plain | undefined;
  /** The client. */
  readonly by: string;
};

/** The document that a client is about to write; a statement that finds one by other fields than its id does not name it. */
export type Next = Pick<Change, "collection" | "id">;

export type ServerOptions = {
  /** Awaited before each document that a client changes. A rejection ends the statement there. */
  readonly between: (by: string, next: Next) => Promise<void>;
  readonly changed?: (change: Change) => void;
  readonly instead?: Instead;
};

export type Statement = { readonly [kind: string]: Plain };
export type Written = {
  readonly matchedCount: number;
  readonly modifiedCount: number;
  readonly deletedCount: number;
  /** The places of statements that were refused, since their document exists already. */
  readonly refused: readonly number[];
};

const kinds = [
  ...["updateOne", "updateMany", "replaceOne"],
  ...["deleteOne", "deleteMany", "insertOne"],
];
const settings = new Set(["filter", "update", "replacement", "upsert", "document"]);

export class Server {
  readonly #options: ServerOptions;
  readonly #collections = new Map<string, Documents>();

  constructor(options: ServerOptions) {
    this.#options = options;
  }

  documents(collection: string): Documents {
    const known = this.#collections.get(collection) ?? new Documents();
    this.#collections.set(collection, known);
    return known;
  }

  /** Makes the statements one after another; a refused one stops no other. */
  async write(collection: string, statements: readonly Statement[], by: string): Promise<Written> {
    let matchedCount = 0;
    let deletedCount = 0;
    const refused: number[] = [];
    for (const [n, statement] of statements.entries()) {
      const [[kind = "", asked = {}] = []] = Object.entries(statement);
      assertKnown(kind, asked);
      const written = await this.#make(collection, kind, asked, by);
      if (written === "refused") refused.push(n);
      else if (kind.startsWith("delete")) deletedCount += written;
      else matchedCount += written;
    }
    return { matchedCount, modifiedCount: matchedCount, deletedCount, refused };
  }

  /** Resolves to the document before the change. */
  async change(
    collection: string,
    filter: Plain,
    update: Update,
    by: string,
    returned: "before" | "after" = "before",
  ): Promise<Plain | undefined> {
    const write = this.#planted({ collection, filter, update });
    await this.#options.between(by, { collection, id: filter["_id"] });
    const [document] = this.documents(collection).meeting((write ?? { filter }).filter);
    if (!write) return document;
    if (!document) return undefined;
    const after = updated(document, write.update ?? update);
    this.#put(collection, document, after, by);
    return returned === "after" ? after : document;
  }

  /** Resolves to the number of documents that matched the filter. */
  async #make(
    collection: string,
    kind: string,
    asked: Plain,
    by: string,
  ): Promise<number | "refused"> {
    const {
      upsert,
      filter = {},
      ...given
    } = asked as Partial<Write> & {
      readonly upsert?: boolean;
    };
    const write = this.#planted({ ...given, filter, collection });
    if (!write) return 1;
    if (write.document) return this.#insert(collection, write.document, by);
    const documents = this.documents(collection);
    const isOfMany = kind.endsWith("Many");
    const meets = meeting(write.filter);
    if (!isOfMany) await this.#options.between(by, { collection, id: filter["_id"] });
    const ids = documents.meeting(write.filter).map(({ _id }) => _id);
    if (ids.length === 0 && upsert) return this.#upsert(write, by);
    let written = 0;
    for (const id of isOfMany ? ids : ids.slice(0, 1)) {
      if (isOfMany) await this.#options.between(by, { collection, id });
      const document = documents.get(id);
      if (!document || !meets(document)) continue;
      written += 1;
      this.#put(collection, document, changedBy(write, document), by);
    }
    return written;
  }

  async #insert(collection: string, document: Plain, by: string): Promise<0 | "refused"> {
    await this.#options.between(by, { collection, id: document["_id"] });
    if (this.documents(collection).get(document["_id"])) return "refused";
    this.#put(collection, undefined, sent(document), by);
    return 0;
  }

  #upsert(write: Write, by: string): 0 | "refused" {
    const { collection, filter } = write;
    const given = Object.entries(filter).filter(([, test]) => !isPlain(test));
    const document = given.reduce<Plain>((made, [path, value]) => put(made, path, value), {});
    if (this.documents(collection).get(document["_id"])) return "refused";
    this.#put(collection, undefined, changedBy(write, document, true) ?? document, by);
    return 0;
  }

  #planted(write: Write): Write | undefined {
    return this.#options.instead ? this.#options.instead(write) : write;
  }

  #put(collection: string, before: Plain | undefined, after: Plain | undefined, by: string): void {
    const id = (before ?? after)?.["_id"];
    this.documents(collection).put(id, before, after);
    this.#options.changed?.({ collection, id, before, after, by });
  }
}

function changedBy(
  { update, replacement }: Write,
  document: Plain,
  isNew = false,
): Plain | undefined {
  if (replacement) return { _id: document["_id"], ...sent(replacement) };
  return update && updated(document, update, isNew);
}

function assertKnown(kind: string, asked: Plain): void {
  const strange = Object.keys(asked).filter((name) => !settings.has(name));
  if (!kinds.includes(kind) || strange.length > 0)
    throw new Error(`no ${kind} with ${strange.join(" ")} in memory`);
}

/** The documents of a collection. Documents that have a field are found by it, as by the server's index of them. */
class Documents {
  readonly #all = new Map<unknown, Plain>();
  readonly #having = new Map<string, Map<unknown, Plain>>();

  get(id: unknown): Plain | undefined {
    return this.#all.get(id);
  }

  all(): Iterable<Plain> {
    return this.#all.values();
  }

  meeting(filter: Plain): readonly Plain[] {
    const meets: Meets = meeting(filter);
    return [...this.#among(filter)].filter(meets);
  }

  put(id: unknown, before: Plain | undefined, after: Plain | undefined): void {
    if (after) this.#all.set(id, after);
    else this.#all.delete(id);
    for (const [field, having] of this.#having)
      if (after && field in after) having.set(id, after);
      else if (before && field in before) having.delete(id);
  }

  #among(filter: Plain): Iterable<Plain> {
    const { _id } = filter;
    const ids = isPlain(_id) ? _id["$in"] : _id;
    if (ids !== undefined) {
      const asked = new Set<unknown>(isList(ids) ? ids : [ids]);
      return [...asked].map((id) => this.#all.get(id)).filter((each) => each !== undefined);
    }
    const field = Object.keys(filter).find((name) => isPresence(name, filter[name]));
    return field === undefined ? this.#all.values() : this.#thoseWith(field).values();
  }

  #thoseWith(field: string): ReadonlyMap<unknown, Plain> {
    const known = this.#having.get(field);
    if (known) return known;
    const having = new Map([...this.#all].filter(([, document]) => field in document));
    this.#having.set(field, having);
    return having;
  }
}

/** Reports whether only a document with the field passes the test. */
const isPresence = (name: string, test: unknown): boolean =>
  !name.includes(".") &&
  !name.startsWith("$") &&
  (isPlain(test) ? test["$exists"] === true : test !== undefined && test !== null);
