/** What the commands tell whoever started them: one line each, on the error output. */
import { type Missing } from "../stores.ts";

export function say(what: string): void {
  console.error(`stack: ${what}`);
}

/** Nobody may take a stand-in, or an absence, for the real thing. */
export function sayMissing(missing: readonly Missing[]): void {
  for (const { name, reason } of missing) say(`MISSING ${name}: ${reason}`);
}
