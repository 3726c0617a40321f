import { describe, expect, it } from "@jest/globals";
import { accept } from "@posthaste/domain";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { aMessage, aTenant } from "@posthaste/testing";
import { newDirectory, openIn } from "../opened.fixture.ts";

describe("the progress of a message", () => {
  it("is read without a look at its body, however large", async () => {
    const dataDir = newDirectory();
    const first = openIn(dataDir);
    const body = new Uint8Array(100_000);
    const message = aMessage({ id: first.ids.next(), body, now: first.clock.now() });
    await first.records.insert([{ record: accept(message, first.clock.now()) }], "new");
    await first.close();
    const db = new DatabaseSync(join(dataDir, "posthaste.db"));
    // From here on a read of the body finds it damaged.
    db.exec("UPDATE bodies SET crc = crc + 1");
    db.close();

    const { records } = openIn(dataDir, { clock: first.clock });

    expect(await records.progress(aTenant, [message.id])).toMatchObject([{ retried: 0 }]);
    await expect(records.get(aTenant, [message.id])).rejects.toThrow();
  });
});
