import { describe, expect, it } from "@jest/globals";
import { newId } from "@posthaste/testing";
import { describeRunLog } from "@posthaste/testing/contract";
import { type Connection } from "../connection.ts";
import { createRecordPorts, recordIndexes } from "../messages/record-ports.ts";
import { freshDatabase } from "../opened.fixture.ts";
import { repeated } from "../repeated.fixture.ts";
import { servers } from "../servers.fixture.ts";

const harnessOf = (connection: Connection) => ({
  ...createRecordPorts(connection, connection),
  ids: { next: newId },
  close: () => Promise.resolve(),
});

describe.each(servers)("$name", ({ name, uri }) => {
  const open = freshDatabase(uri, recordIndexes);

  describeRunLog(name, async () => harnessOf((await open()).connection));

  describeRunLog(`${name}, each reply lost once`, async () =>
    harnessOf(repeated((await open()).connection)),
  );

  it(`${name}: no question of runs reads a whole collection`, async () => {
    const { queries } = await open();

    expect(queries.unserved()).toEqual([]);
    expect(queries.count()).toBeGreaterThan(0);
  });
});
