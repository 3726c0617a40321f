/** Lists, counts and walks beside inserts, with reads that take the server long. The test compares order and counts, not times. */
import { describe, expect, it } from "@jest/globals";
import { accept, tenantId } from "@posthaste/domain";
import { aMessage, newId } from "@posthaste/testing";
import { createRecordPorts, recordIndexes } from "./messages/record-ports.ts";
import { createOldest } from "./oldest.ts";
import { freshDatabase } from "./opened.fixture.ts";
import { servers } from "./servers.fixture.ts";

const readers = 40;
const inserts = 50;

describe.each(servers)("$name", ({ name, uri }) => {
  const open = freshDatabase(uri, recordIndexes);

  async function opened() {
    const { connection } = await open();
    const { heavy } = connection;
    await connection.collection("slow").insertOne({});
    let reading = 0;
    let readingMost = 0;
    const ofTenant = new Map<string, number>();
    const read = (tenant: string, ms: number) =>
      heavy.again(tenantId(tenant))(async () => {
        const own = (ofTenant.get(tenant) ?? 0) + 1;
        ofTenant.set(tenant, own);
        expect(own).toBeLessThanOrEqual(3);
        readingMost = Math.max(readingMost, ++reading);
        const wait = { $where: `sleep(${ms}) || true` };
        await heavy
          .collection("slow")
          .find(wait)
          .maxTimeMS(heavy.msMax)
          .toArray()
          .finally(() => {
            reading -= 1;
            ofTenant.set(tenant, (ofTenant.get(tenant) ?? 0) - 1);
          });
      });
    return { connection, read, readingMost: () => readingMost };
  }

  it(`${name}: forty slow reads of ten tenants are made eight at a time, three of a tenant, and fifty inserts do not wait for them`, async () => {
    const { connection, read, readingMost } = await opened();
    const { during, waitMs } = createOldest(connection.clock);
    const { records } = createRecordPorts(connection, connection, during);
    let answered = 0;
    const reads = Array.from({ length: readers }, async (_, n) => {
      await read(`t${n % 10}`, 500);
      answered += 1;
    });

    for (let n = 0; n < inserts; n++) {
      const message = aMessage({ id: newId() });
      const inserting = records.insert(
        [{ record: accept(message, connection.clock.now()) }],
        "new",
      );
      expect(waitMs()).toBeGreaterThanOrEqual(0);
      await inserting;
    }
    const answeredThen = answered;
    await Promise.all(reads);

    // The reads take five rounds of half a second each. Inserts that waited behind them would end with the last round.
    expect(answeredThen).toBeLessThan(readers);
    expect(readingMost()).toBeLessThanOrEqual(8);
    expect(waitMs()).toBe(0);
  });

  it(`${name}: a read that takes longer than it may is refused for now, not as a failure of ours, and is not made again`, async () => {
    const { connection } = await opened();
    const slow = connection.collection("slow");
    const wait = { $where: "sleep(5000) || true" };
    let reads = 0;

    const read = connection.heavy.again(tenantId("t"))(() => {
      reads += 1;
      return slow.find(wait).maxTimeMS(50).toArray();
    });

    await expect(read).rejects.toMatchObject({ code: "overloaded" });
    expect(reads).toBe(1);
  });
});
