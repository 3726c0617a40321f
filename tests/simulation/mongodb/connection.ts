/** A client's connection to the server in memory, over which the adapter of MongoDB runs unchanged. */
import { type Connection } from "@posthaste/documents-mongo";
import { type Collection, type Db, type Document } from "mongodb";
import { type Client, duplicateKey, MemoryCollection } from "./collection.ts";
import { isPlain, type Plain } from "./values.ts";

type Surroundings = Pick<Connection, "again" | "clock" | "log" | "pause" | "random">;

export function connectionOf(client: Client, surroundings: Surroundings): Connection {
  const { again } = surroundings;
  const { server, by, call } = client;
  const collection = <T extends Document>(name: string) =>
    new MemoryCollection(name, client) as unknown as Collection<T>;
  const command = async ({ dbStats, insert, documents }: Document): Promise<Document> => {
    // The sizes of disks are unknown.
    if (dbStats) return {};
    if (typeof insert !== "string") throw new Error("no such command in memory");
    const given: readonly Plain[] = Array.isArray(documents) ? documents.filter(isPlain) : [];
    const statements = given.map((document) => ({ insertOne: { document } }));
    const { refused } = await call(`${insert}.insert`, () => server.write(insert, statements, by));
    return { writeErrors: refused.map((index) => ({ index, code: duplicateKey })) };
  };
  return {
    ...surroundings,
    db: { command, collection } as unknown as Db,
    collection,
    heavy: { collection, again: () => again, msMax: 1_000 },
  };
}
