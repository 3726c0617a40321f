/** What the database says about itself: its format, and which process builds in it just now. */
import { type Collection, type Db } from "mongodb";

export type StoredFormat = { readonly _id: "format"; readonly format: number };

export type StoredBuilder = {
  readonly _id: "builder";
  readonly owner: string;
  /** The end of its lease, by the server's clock. */
  readonly until: Date;
  /** What it does, and how far it has come: processes that wait say so, too. */
  readonly doing: string;
};

const metaName = "meta";

export const formatsOf = (db: Db): Collection<StoredFormat> => db.collection(metaName);
export const buildersOf = (db: Db): Collection<StoredBuilder> => db.collection(metaName);
