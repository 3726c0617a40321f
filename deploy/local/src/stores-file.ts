/** What `npm run stack -- stores --file F` writes, and `testStores()` of @posthaste/testing reads. */
import { renameSync, writeFileSync } from "node:fs";
import { type Stores } from "./stores.ts";

export function writeStoresFile(file: string, stores: Stores): void {
  const writing = `${file}.${process.pid}`;
  writeFileSync(writing, `${JSON.stringify(storesFile(stores), undefined, 2)}\n`);
  renameSync(writing, file);
}

export function storesFile({ kafka, redis, mongodb, missing }: Stores) {
  return {
    ...(kafka === undefined ? {} : { kafka: { name: kafka.name, brokers: kafka.brokers } }),
    ...(redis === undefined ? {} : { redis: { name: redis.name, url: redis.url } }),
    mongodb: mongodb.map(({ name, uri }) => ({ name, uri })),
    missing,
  };
}
