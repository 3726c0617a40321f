/** The record store keeps its contract, on every server of the suite. `other` is a second process. */
import { describe, expect, it } from "@jest/globals";
import { describeFanOuts, describeRecords, type RecordsHarness } from "@posthaste/testing/contract";
import { createEventCounts } from "../message-log/counts.ts";
import { createMessageLog, messageLogIndexes } from "../message-log/message-log.ts";
import { createIds } from "../ids.ts";
import { freshDatabase } from "../opened.fixture.ts";
import { createRecordPorts, recordIndexes } from "./record-ports.ts";
import { servers } from "../servers.fixture.ts";
import { createSizes } from "../sizes.ts";

describe.each(servers)("$name", ({ name, uri }) => {
  const open = freshDatabase(uri, [...recordIndexes, ...messageLogIndexes]);

  const openHarness = async (): Promise<RecordsHarness> => {
    const { connection: plain, clock } = await open();
    const connection = { ...plain, counts: createEventCounts({ ...plain, clock }) };
    return {
      ...createRecordPorts(connection, connection),
      messageLog: createMessageLog(connection),
      other: createRecordPorts(connection, connection),
      ids: createIds(connection),
      now: () => clock.now(),
      advance: (ms) => clock.advance(ms),
      close: () => Promise.resolve(),
    };
  };

  describeRecords(name, openHarness);
  describeFanOuts(name, openHarness);

  it(`${name}: no question of the record store reads a whole collection`, async () => {
    const { connection, queries } = await open();
    const sizes = createSizes(connection);
    const counts = await Promise.all([
      sizes.activeRuns(9),
      sizes.queued(9),
      sizes.waiting(9),
      sizes.waitingRuns(9),
    ]);

    expect(counts).toEqual([0, 0, 0, 0]);
    expect(await sizes.runAlarm()).toBeUndefined();
    expect(queries.unserved()).toEqual([]);
    expect(queries.count()).toBeGreaterThan(0);
  });
});
