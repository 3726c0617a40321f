import { describe } from "@jest/globals";
import { type GroupChunkId, type MessageId } from "@posthaste/domain";
import { type MessageStore } from "@posthaste/ports";
import { newId } from "@posthaste/testing";
import { describeGroups } from "@posthaste/testing/contract";
import { freshDatabase, servers } from "../opened.fixture.ts";
import { createGroups, groupIndexes } from "./groups.ts";

describe.each(servers)("$name", ({ name, uri }) => {
  const open = freshDatabase(uri, groupIndexes);

  describeGroups(name, async () => {
    const { connection, clock } = await open();
    const parents = new Map<MessageId, readonly GroupChunkId[]>();
    const store = {
      insert: async (given: Parameters<MessageStore["insert"]>[0]) => {
        for (const { record } of given)
          parents.set(record.message.id, record.message.fanOut?.chunks ?? []);
        return [];
      },
      expanded: async (id: MessageId) => parents.delete(id),
    } as unknown as MessageStore;
    return {
      groups: createGroups(connection, async () => new Set([...parents.values()].flat())),
      store,
      ids: { next: newId },
      now: () => clock.now(),
      advance: (ms: number) => clock.advance(ms),
      close: () => Promise.resolve(),
    };
  });
});
