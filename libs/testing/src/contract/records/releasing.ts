import { expect } from "@jest/globals";
import { allShards, type Message, runKey } from "@posthaste/domain";
import { anotherTenant, aPolicy, aQueue, aTenant } from "../../builders/message.ts";
import {
  inLine,
  insert,
  insertClaimed,
  insertDelivered,
  oneAtATime,
  read,
  readIn,
  type RecordsHarness,
  refused,
  ring,
  settle,
  type StoreGuarantee,
} from "./harness.ts";
import { aRunId } from "../../builders/run.ts";

const hour = { delayMs: 3_600_000 };
const released = async (
  { records }: Pick<RecordsHarness, "records">,
  { id, tenant }: Pick<Message, "id" | "tenant">,
): Promise<string> => (await records.release(tenant, id)).kind;

export function releasing(it: StoreGuarantee): void {
  it("a released message of a delay is due and rings now", async (harness) => {
    const message = await insert(harness, hour);
    expect((await ring(harness, allShards, 10)).hints).toEqual([]);

    expect(await harness.records.release(aTenant, message.id)).toEqual({
      kind: "released",
      shard: message.shard,
    });

    expect(await harness.alarms.next(allShards)).toBeLessThanOrEqual(harness.now());
    const { hints } = await ring(harness, allShards, 10);
    expect(hints.map(({ id }) => id)).toEqual([message.id]);
    await readIn(harness, message, "due");
  });

  it("a released retry keeps its count and its epoch", async (harness) => {
    const record = await insertClaimed(harness, { policy: aPolicy({ retriesMax: 3 }) });
    await settle(harness, record, refused);
    const { epoch, retried } = await readIn(harness, record.message, "held");

    expect(await released(harness, record.message)).toBe("released");

    await ring(harness, allShards, 10);
    expect(await readIn(harness, record.message, "due")).toMatchObject({ epoch, retried });
    const [again] = await harness.records.claim([record.message.id], record.state.owner);
    expect(again?.retried).toBe(1);
  });

  it("a released message with a flow key joins the line for its slot", async (harness) => {
    const message = await insert(harness, { ...hour, flow: oneAtATime });

    await released(harness, message);
    await ring(harness, allShards, 10);

    await readIn(harness, message, "waiting");
    expect(await inLine(harness)).toEqual([message.id]);
  });

  it("ten releases of one message at once each find it released or due", async (harness) => {
    const { other = harness } = harness;
    const message = await insert(harness, hour);

    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => released(n % 2 ? harness : other, message)),
    );

    expect(new Set(answers)).toEqual(new Set(["released"]));
    expect((await ring(harness, allShards, 10)).hints).toHaveLength(1);
  });

  it("a message that waits for no time is not released, nor another tenant's", async (harness) => {
    const due = await insert(harness);
    const claimed = await insertClaimed(harness);
    const done = await insertDelivered(harness);
    const theirs = await insert(harness, { ...hour, tenant: anotherTenant });
    const before = await Promise.all(
      [due, claimed.message, done, theirs].map((each) => read(harness, each)),
    );

    for (const each of [due, claimed.message, done])
      expect(await released(harness, each)).toBe("unknown");
    for (const id of [theirs.id, harness.ids.next()])
      expect(await released(harness, { tenant: aTenant, id })).toBe("unknown");

    const after = await Promise.all(
      [due, claimed.message, done, theirs].map((each) => read(harness, each)),
    );
    expect(after).toEqual(before);
  });

  it("a retry of a run is released, and a step that sleeps is not", async (harness) => {
    const id = aRunId;
    const ofRun = { key: runKey(aTenant, id, 1), id, root: harness.ids.next(), createdAt: 0 };
    const run = { ...ofRun, bytes: 0, part: "s1" };
    const sleeping = await insert(harness, { ...hour, run });
    const record = await insertClaimed(harness, { run: { ...run, part: "s2" } });
    const { message } = record;
    await settle(harness, record, refused);

    expect(await released(harness, sleeping)).toBe("asleep");
    expect(await released(harness, message)).toBe("released");
    expect((await ring(harness, allShards, 10)).hints).toMatchObject([{ id: message.id }]);
  });

  it("no message of a queue is released", async (harness) => {
    const message = await insert(harness, { ...hour, queue: aQueue });

    expect(await released(harness, message)).toBe("inQueue");
  });
}
