/** The file that `npm run stack -- stores --file F` writes and `testStores()` of @posthaste/testing reads. */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { type Stores } from "./stores.ts";

export function writeStoresFile(file: string, stores: Stores): void {
  const writing = `${file}.${process.pid}`;
  writeFileSync(writing, textOf(stores));
  renameSync(writing, file);
}

/** Keeps a file that another stack has written since. */
export function removeStoresFile(file: string, stores: Stores): void {
  if (existsSync(file) && readFileSync(file, "utf8") === textOf(stores)) rmSync(file);
}

const textOf = (stores: Stores) => `${JSON.stringify(storesFile(stores), undefined, 2)}\n`;

function storesFile({ kafka, redis, mongodb }: Stores) {
  return {
    ...(kafka === undefined ? {} : { kafka: { name: kafka.name, brokers: kafka.brokers } }),
    ...(redis === undefined ? {} : { redis: { name: redis.name, url: redis.url } }),
    ...(mongodb === undefined ? {} : { mongodb: { name: mongodb.name, uri: mongodb.uri } }),
  };
}
