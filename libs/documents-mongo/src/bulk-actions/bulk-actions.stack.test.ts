import { describe } from "@jest/globals";
import { describeBulkActions } from "@posthaste/testing/contract";
import { type Connection } from "../connection.ts";
import { createRecordPorts, recordIndexes } from "../messages/record-ports.ts";
import { freshDatabase, type Opened, readsNoWholeCollection } from "../opened.fixture.ts";
import { ways } from "../repeated.fixture.ts";
import { servers } from "../servers.fixture.ts";
import { createBulkActions } from "./bulk-actions.ts";

const harnessOf = ({ clock }: Opened, connection: Connection) => ({
  bulkActions: createBulkActions(connection),
  alarms: createRecordPorts(connection, connection).alarms,
  now: () => clock.now(),
  advance: (ms: number) => clock.advance(ms),
  close: () => Promise.resolve(),
});

describe.each(servers)("$name", ({ name, uri }) => {
  const open = freshDatabase(uri, recordIndexes);

  for (const [how, through] of ways)
    describeBulkActions(`${name}${how}`, async () => {
      const opened = await open();
      return harnessOf(opened, through(opened.connection));
    });

  readsNoWholeCollection("bulk actions", open);
});
