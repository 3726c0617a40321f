import { afterEach, describe, expect, it } from "@jest/globals";
import { accept, bulkActionId, messageId, newBulkAction } from "@posthaste/domain";
import { StoreError } from "@posthaste/ports";
import { aMessage, aTenant, recordingLog, seededRandom, virtualClock } from "@posthaste/testing";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { type Embedded, openEmbedded } from "./embedded.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const mebibyte = 1024 * 1024;

function openOnFullDisk(): Embedded {
  const store = openEmbedded({
    dataDir: temporaryFolder(),
    clock: virtualClock(),
    random: seededRandom(1),
    log: recordingLog(),
    reserveBytes: 0,
    space: () => ({ totalBytes: 1024 * mebibyte, freeBytes: mebibyte }),
  });
  closers.push(() => store.close());
  return store;
}

describe("a disk that is nearly full", () => {
  it("takes no message, and the bulk action that cancels messages", async () => {
    const store = openOnFullDisk();
    const id = bulkActionId("bulk_1");
    const work = { kind: "cancel", filter: {} } as const;
    const upTo = { id: messageId("msg_1"), at: 1 };
    const action = newBulkAction({ id, tenant: aTenant, work, upTo, total: 0, createdAt: 1 }, 1);

    await expect(
      store.records.insert([{ record: accept(aMessage(), 1) }], "new"),
    ).rejects.toBeInstanceOf(StoreError);
    expect(await store.bulkActions.add(action, 10)).toEqual(action);
  });
});
