import { describe, expect, it } from "@jest/globals";
import {
  describeAccounts,
  describeAuditLog,
  describeSearchIndexes,
} from "@posthaste/testing/contract";
import { accountIndexes, createAccounts } from "./accounts.ts";
import { auditLogIndexes, createAuditLog } from "./audit-log.ts";
import { freshDatabase } from "./opened.fixture.ts";
import { createSearchIndexes } from "./search-indexes.ts";
import { servers } from "./servers.fixture.ts";

/** Reads of whole collections that have few documents and are changed by hand: wanted. */
const fewReadWhole = ["find tenants {}", "find tokens {}", "find search_indexes {}"];

describe.each(servers)("$name", ({ name, uri }) => {
  const open = freshDatabase(uri, [...accountIndexes, ...auditLogIndexes]);
  const close = (): Promise<void> => Promise.resolve();

  describeAccounts(name, async () => {
    const { connection } = await open();
    return { accounts: createAccounts(connection), close };
  });

  describeSearchIndexes(name, async () => {
    const { connection } = await open();
    return { indexes: createSearchIndexes(connection), close };
  });

  describeAuditLog(name, async () => {
    const { connection } = await open();
    return { auditLog: createAuditLog(connection), close };
  });

  it(`${name}: a write that was never announced, or by an older process, is read within a minute`, async () => {
    const { clock, connection } = await open();
    const accounts = createAccounts(connection);
    const { mark } = await accounts.changedSince(undefined);

    await clock.advance(59_000);
    const before = await accounts.changedSince(mark);
    await clock.advance(1_000);
    const after = await accounts.changedSince(before.mark);
    const next = await accounts.changedSince(after.mark);

    expect([before.tenants, after.tenants, next.tenants]).toEqual([[], "all", []]);
  });

  it(`${name}: only a list of all accounts reads a whole collection`, async () => {
    const { queries } = await open();

    expect(queries.unserved()).toEqual(fewReadWhole);
    expect(queries.count()).toBeGreaterThan(0);
  });
});
