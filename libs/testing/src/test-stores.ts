/** The stores that `npm run stack -- stores` has started, for suites that need them. */
import { readFileSync } from "node:fs";

/** `name` names the server; suites put it into their titles. */
export type TestStores = {
  readonly kafka?: { readonly name: string; readonly brokers: readonly string[] };
  readonly redis?: { readonly name: string; readonly url: string };
  readonly mongodb?: { readonly name: string; readonly uri: string };
};

/** Reads the file that `POSTHASTE_TEST_STORES` names. Throws when there is none: a suite must not pass by not running. */
export function testStores(): TestStores {
  const file = process.env["POSTHASTE_TEST_STORES"];
  if (file === undefined)
    throw new Error("POSTHASTE_TEST_STORES is not set: run these suites by `npm test -- stores`");
  // @posthaste/local writes the file in this form.
  return JSON.parse(readFileSync(file, "utf8")) as TestStores;
}
