import { describe } from "@jest/globals";
import { describeSchedules } from "@posthaste/testing/contract";
import { type Connection } from "../connection.ts";
import { createRecordPorts, recordIndexes } from "../messages/record-ports.ts";
import { freshDatabase, type Opened, readsNoWholeCollection } from "../opened.fixture.ts";
import { ways } from "../repeated.fixture.ts";
import { servers } from "../servers.fixture.ts";
import { createSchedules } from "./schedules.ts";

const harnessOf = ({ clock }: Opened, connection: Connection) => ({
  schedules: createSchedules(connection),
  alarms: createRecordPorts(connection, connection).alarms,
  now: () => clock.now(),
  advance: (ms: number) => clock.advance(ms),
  close: () => Promise.resolve(),
});

describe.each(servers)("$name", ({ name, uri }) => {
  const open = freshDatabase(uri, recordIndexes);

  for (const [how, through] of ways)
    describeSchedules(`${name}${how}`, async () => {
      const opened = await open();
      return harnessOf(opened, through(opened.connection));
    });

  readsNoWholeCollection("schedules", open);
});
