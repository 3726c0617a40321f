import { type Collection, type Document } from "mongodb";
import { type Connection } from "./connection.ts";

/** A call of the driver on a collection: `go` makes it, and returns its cursor or its reply. */
export type Call = {
  readonly collection: Collection;
  readonly name: string;
  readonly given: readonly unknown[];
  readonly go: () => unknown;
};

/** Returns a connection on which `answer` answers each call on these collections. */
export function intercepted(
  connection: Connection,
  collections: readonly string[],
  answer: (call: Call) => unknown,
): Connection {
  const through =
    (of: Pick<Connection, "collection">): Connection["collection"] =>
    <T extends Document>(asked: string): Collection<T> => {
      const collection = of.collection<T>(asked);
      if (!collections.includes(asked)) return collection;
      return new Proxy(collection, {
        get: (target, key) => {
          const value: unknown = Reflect.get(target, key);
          if (typeof value !== "function") return value;
          return (...given: unknown[]): unknown => {
            const go = (): unknown => Reflect.apply(value, target, given);
            return answer({ collection: of.collection(asked), name: String(key), given, go });
          };
        },
      });
    };
  const { heavy } = connection;
  return {
    ...connection,
    collection: through(connection),
    heavy: { ...heavy, collection: through(heavy) },
  };
}
