/** `npm run stack -- stores`: the stores only, until it is told to end; then their data go. */
import { type Asked } from "../arguments.ts";
import { startStores, type Stores } from "../stores.ts";
import { removeStoresFile, writeStoresFile } from "../stores-file.ts";
import { createWorkFolder } from "../work-folder.ts";
import { say, sayMissing } from "./say.ts";
import { untilTold } from "./until-told.ts";

/** The exit code. */
export async function storesCommand(asked: Asked): Promise<number> {
  const told = untilTold(asked);
  const folder = createWorkFolder();
  const starting = startStores({ dir: folder.path, mongodb: "all" });
  const stores = await Promise.race([starting, told]);
  // What is half started ends with this process.
  if (stores === undefined) process.exit(1);
  try {
    sayStores(stores);
    if (!suffices(stores, asked)) return 1;
    if (asked.file !== undefined) writeStoresFile(asked.file, stores);
    say("ready; Ctrl-C stops them and removes their data");
    await told;
    if (asked.file !== undefined) removeStoresFile(asked.file, stores);
    return 0;
  } finally {
    await stores.stop();
    folder.remove();
  }
}

function sayStores({ kafka, redis, mongodb, missing }: Stores): void {
  const lines = [
    ...(kafka === undefined ? [] : [{ name: kafka.name, address: kafka.brokers.join() }]),
    ...(redis === undefined ? [] : [{ name: redis.name, address: redis.url }]),
    ...mongodb.map(({ name, uri }) => ({ name, address: withoutPassword(uri) })),
  ];
  for (const { name, address } of lines) say(`${name.padEnd(36)} ${address}`);
  sayMissing(missing);
}

/** Kafka, Redis and one that speaks MongoDB; everything, if strict. */
export function suffices({ kafka, redis, mongodb, missing }: Stores, { isStrict }: Asked): boolean {
  if (isStrict && missing.length > 0) return false;
  return kafka !== undefined && redis !== undefined && mongodb.length > 0;
}

function withoutPassword(uri: string): string {
  return uri.replace(/\/\/[^@/]*@/, "//***@");
}
