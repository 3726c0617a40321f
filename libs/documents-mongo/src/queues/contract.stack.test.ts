/** Queues keep their contract, on every server of the suite. `other` is a second process. */
import { describe } from "@jest/globals";
import { describeQueues } from "@posthaste/testing/contract";
import { createIds } from "../ids.ts";
import { createMessageLog } from "../message-log/message-log.ts";
import { createRecordPorts, recordIndexes } from "../messages/record-ports.ts";
import { freshDatabase, readsNoWholeCollection } from "../opened.fixture.ts";
import { servers } from "../servers.fixture.ts";

describe.each(servers)("$name", ({ name, uri }) => {
  const open = freshDatabase(uri, recordIndexes);

  describeQueues(name, async () => {
    const { connection, clock } = await open();
    return {
      ...createRecordPorts(connection, connection),
      messageLog: createMessageLog(connection),
      other: createRecordPorts(connection, connection),
      ids: createIds(connection),
      now: () => clock.now(),
      advance: (ms) => clock.advance(ms),
      close: () => Promise.resolve(),
    };
  });

  readsNoWholeCollection("queues", open);
});
