import { describe, expect, it } from "@jest/globals";
import { runId } from "@posthaste/domain";
import { aRunStart, aTenant, ending, epochStart, newId } from "@posthaste/testing";
import { describeRunLog } from "@posthaste/testing/contract";
import { type Connection } from "../connection.ts";
import { createRecordPorts, recordIndexes } from "../messages/record-ports.ts";
import { freshDatabase, readsNoWholeCollection } from "../opened.fixture.ts";
import { createSizes } from "../sizes.ts";
import { ways } from "../repeated.fixture.ts";
import { servers } from "../servers.fixture.ts";

const harnessOf = (connection: Connection) => ({
  ...createRecordPorts(connection, connection),
  ids: { next: newId },
  close: () => Promise.resolve(),
});

describe.each(servers)("$name", ({ name, uri }) => {
  const open = freshDatabase(uri, recordIndexes);

  for (const [how, through] of ways)
    describeRunLog(`${name}${how}`, async () => harnessOf(through((await open()).connection)));

  it(`${name}: runs are counted along indexes, up to the given bound, and their alarms are found`, async () => {
    const { connection, queries } = await open();
    const { runs } = createRecordPorts(connection, connection);
    const sizes = createSizes(connection);
    expect(await sizes.runAlarm()).toBeUndefined();
    for (const id of [runId("one"), runId("two"), runId("three")])
      await runs.start(aTenant, id, "new", (use) => aRunStart(use, { id, now: epochStart }));
    await runs.change({ tenant: aTenant, id: runId("three") }, (run) => ending(run, epochStart));

    expect(await sizes.activeRuns(10)).toBe(2);
    expect(await sizes.activeRuns(1)).toBe(1);
    expect(await sizes.waitingRuns(10)).toBe(0);
    expect(await sizes.runAlarm()).toBeGreaterThan(0);
    expect(queries.unserved()).toEqual([]);
  });

  readsNoWholeCollection("runs", open);
});
