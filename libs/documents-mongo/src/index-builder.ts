/**
 * Makes the indexes, beside the heartbeat and over a connection of its own, on which the server may be silent: an index of a large
 * collection takes as long as that has documents.
 *
 * (1) One build of a process is under way at a time, and waits for as long as it takes. Builds of several processes are one to the server.
 * (2) Nothing begins after the end: a client that is used after it was closed is open again, for good.
 */
import { type Db } from "mongodb";
import { type Index, indexesOf } from "./indexes.ts";

export type IndexBuilder = {
  /** Resolves when all are there. A call during a build waits for that one; after one that has failed the next begins. */
  readonly build: () => Promise<void>;
  /** For which collection, and how far it has come. */
  readonly progress: () => string;
  readonly end: () => void;
};

export function createIndexBuilder(db: Db, indexes: readonly Index[]): IndexBuilder {
  const collections = [...Map.groupBy(indexes, ({ collection }) => collection)];
  let underWay: Promise<void> | undefined;
  let done = 0;
  let ended = false;

  const buildAll = async (): Promise<void> => {
    for (done = 0; done < collections.length; done++) {
      const [name, own] = collections[done] ?? ["", []];
      if (ended) throw new Error("the documents are closed");
      await db.collection(name).createIndexes(indexesOf(own));
    }
  };

  return {
    build: () => {
      underWay ??= buildAll().finally(() => (underWay = undefined));
      return underWay;
    },
    progress: () =>
      `the indexes of ${collections[done]?.[0] ?? "all"} are being built, after those of ${done} of ${collections.length} collections`,
    end: () => {
      ended = true;
    },
  };
}
