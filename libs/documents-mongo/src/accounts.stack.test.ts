import { describe, expect, it } from "@jest/globals";
import { describeAccounts, describeSearchIndexes } from "@posthaste/testing/contract";
import { accountIndexes, createAccounts } from "./accounts.ts";
import { freshDatabase } from "./opened.fixture.ts";
import { createSearchIndexes } from "./search-indexes.ts";
import { servers } from "./servers.fixture.ts";

/** Few, changed by hand, and each of them wanted. */
const fewReadWhole = ["find tenants {}", "find tokens {}", "find search_indexes {}"];

describe.each(servers)("$name", ({ name, uri }) => {
  const open = freshDatabase(uri, accountIndexes);
  const close = (): Promise<void> => Promise.resolve();

  describeAccounts(name, async () => {
    const { connection } = await open();
    return { accounts: createAccounts(connection), close };
  });

  describeSearchIndexes(name, async () => {
    const { connection } = await open();
    return { indexes: createSearchIndexes(connection), close };
  });

  it(`${name}: no question of accounts but for a list of all reads a whole collection`, async () => {
    const { queries } = await open();

    expect(queries.unserved()).toEqual(fewReadWhole);
    expect(queries.count()).toBeGreaterThan(0);
  });
});
