import { describe } from "@jest/globals";
import { newId } from "@posthaste/testing";
import { describeMessageLog } from "@posthaste/testing/contract";
import { freshDatabase, servers } from "../opened.fixture.ts";
import { createMessageLog, messageLogIndexes } from "./message-log.ts";

describe.each(servers)("$name", ({ name, uri }) => {
  const open = freshDatabase(uri, messageLogIndexes);

  describeMessageLog(name, async () => {
    const { connection } = await open();
    return {
      log: createMessageLog(connection),
      ids: { next: newId },
      close: () => Promise.resolve(),
    };
  });
});
