import { type Missing, type Stores } from "../stores.ts";

export function say(what: string): void {
  console.error(`stack: ${what}`);
}

export function sayMissing(missing: readonly Missing[]): void {
  for (const { name, reason } of missing) say(`MISSING ${name}: ${reason}`);
}

export function sayStores({ kafka, redis, mongodb, missing }: Stores): void {
  const lines = [
    ...(kafka === undefined ? [] : [{ name: kafka.name, address: kafka.brokers.join() }]),
    ...(redis === undefined ? [] : [{ name: redis.name, address: redis.url }]),
    ...(mongodb === undefined
      ? []
      : [{ name: mongodb.name, address: withoutPassword(mongodb.uri) }]),
  ];
  for (const { name, address } of lines) say(`${name.padEnd(36)} ${address}`);
  sayMissing(missing);
}

function withoutPassword(uri: string): string {
  return uri.replace(/\/\/[^@/]*@/, "//***@");
}
