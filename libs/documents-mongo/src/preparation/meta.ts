/** The collection `meta`: the format of the database, and which process builds in it. */
import { type Collection, type Db } from "mongodb";

export type StoredFormat = { readonly _id: "format"; readonly format: number };

export type StoredBuilder = {
  readonly _id: "builder";
  readonly owner: string;
  /** The end of the lease, by the server's clock. */
  readonly until: Date;
  /** The holder's work and progress; waiting processes report this text. */
  readonly doing: string;
};

const metaName = "meta";

export const formatsOf = (db: Db): Collection<StoredFormat> => db.collection(metaName);
export const buildersOf = (db: Db): Collection<StoredBuilder> => db.collection(metaName);
