/** Tests how this adapter ends cancelled records: records that owe only a row of the log end together, in one write each. */
import { describe, expect, it, jest } from "@jest/globals";
import { limits } from "@posthaste/domain";
import { anAnswer, aPolicy, aTenant } from "@posthaste/testing";
import { type Document } from "mongodb";
import { ways } from "../repeated.fixture.ts";
import { servers } from "../servers.fixture.ts";
import { type Harness, openStores } from "./harness.fixture.ts";
import { createRecordPorts } from "./record-ports.ts";
import { collectionName } from "./stored.ts";

jest.setTimeout(120_000);

const storedIn = ({ connection }: Harness): Promise<readonly Document[]> =>
  connection.collection(collectionName).find().toArray();

describe.each(servers)("$name", ({ uri }) => {
  const open = openStores(uri);

  it.each(ways)(
    "cancels each of many once, in the state that it has by then%s",
    async (_, through) => {
      const harness = await open();
      const { clock } = harness;
      const { records } = createRecordPorts(through(harness.connection), harness.connection);
      const { ids } = await harness.insertMany(6);
      const claimed = await harness.claim(ids.slice(0, 2));
      await harness.settle(claimed.slice(0, 1), anAnswer(500));
      const [gone] = await harness.records.cancel(aTenant, ids.slice(2, 3));

      const answers = await records.cancel(aTenant, ids);

      expect(gone).toMatchObject({ kind: "canceled", was: "due", left: [], owed: { attempt: 0 } });
      expect(answers).toMatchObject([
        { kind: "canceled", was: "held", left: [{ kind: "fact", attempt: 1 }] },
        { kind: "canceled", was: "claimed", left: [{ kind: "fact", attempt: 0 }] },
        { kind: "unknown" },
        ...ids.slice(3).map((id) => ({ was: "due", left: [], owed: { id, ended: "canceled" } })),
      ]);
      const stored = await storedIn(harness);
      const owing = stored.filter(({ outbox }) => (outbox as unknown[]).length === 0);
      expect(owing.map(({ _id }) => String(_id)).toSorted()).toEqual(ids.slice(2).toSorted());
      for (const each of owing) {
        expect(each).toMatchObject({ state: "canceled", canceledSweepAt: clock.now() });
        for (const field of ["sweepAt", "owedSweepAt", "wakeAt", "dueAt", "hints"])
          expect(each).not.toHaveProperty(field);
      }
    },
  );

  it("keeps records whose log rows are missing out of the index of sweeps, also when an item is cleared late", async () => {
    const harness = await open();
    const { id } = await harness.insertOne();
    await harness.records.cancel(aTenant, [id]);

    await harness.records.clear([{ id, attempt: 0, item: "fact" }]);

    const [stored] = await storedIn(harness);
    expect(stored).toMatchObject({ canceledSweepAt: harness.clock.now() });
    for (const field of ["sweepAt", "owedSweepAt", "toldSweepAt"])
      expect(stored).not.toHaveProperty(field);
  });

  it("leaves a redacted fact in the outbox, with an alarm", async () => {
    const harness = await open();
    const policy = aPolicy({ redaction: { body: true, headers: [] } });
    const { ids } = await harness.insertMany(1, { policy });

    const answers = await harness.records.cancel(aTenant, ids);

    expect(answers).toMatchObject([{ kind: "canceled", left: [{ kind: "fact" }] }]);
    const [stored] = await storedIn(harness);
    expect(stored).toMatchObject({ factAt: harness.clock.now() + limits.ringAheadMs });
  });
});
