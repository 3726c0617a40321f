/** `npm run stack -- fetch`: fetches everything into the cache, or fails. */
import { exitCodeFor, fetchStores } from "../stores.ts";
import { say, sayMissing } from "./say.ts";

export async function fetchCommand(): Promise<number> {
  const { fetched, missing } = await fetchStores();
  for (const name of fetched) say(`${name} is there`);
  sayMissing(missing);
  return missing.length > 0 ? exitCodeFor(missing) : 0;
}
