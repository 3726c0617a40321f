import { describe } from "@jest/globals";
import { describeAccounts, describeSearchIndexes } from "@posthaste/testing/contract";
import { createAccounts } from "./accounts.ts";
import { freshDatabase } from "./opened.fixture.ts";
import { createSearchIndexes } from "./search-indexes.ts";
import { servers } from "./servers.fixture.ts";

describe.each(servers)("$name", ({ name, uri }) => {
  const open = freshDatabase(uri, []);
  const close = (): Promise<void> => Promise.resolve();

  describeAccounts(name, async () => {
    const { connection } = await open();
    return { accounts: createAccounts(connection), close };
  });

  describeSearchIndexes(name, async () => {
    const { connection } = await open();
    return { indexes: createSearchIndexes(connection), close };
  });
});
