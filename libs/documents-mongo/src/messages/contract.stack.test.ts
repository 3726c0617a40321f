/** The record store against its contract, on every server there is; `other` is a second process. */
import { describe } from "@jest/globals";
import { describeMessageStore } from "@posthaste/testing/contract";
import { createIds } from "../ids.ts";
import { freshDatabase } from "../opened.fixture.ts";
import { createMessageStore, messageStoreIndexes } from "./store.ts";
import { servers } from "../servers.fixture.ts";

describe.each(servers)("$name", ({ name, uri }) => {
  const open = freshDatabase(uri, messageStoreIndexes);

  describeMessageStore(name, async () => {
    const { connection, clock } = await open();
    return {
      store: createMessageStore(connection, connection),
      other: createMessageStore(connection, connection),
      ids: createIds(connection),
      now: () => clock.now(),
      advance: (ms) => clock.advance(ms),
      close: () => Promise.resolve(),
    };
  });
});
