/** An older process beside a newer one: records above the format of this build are left alone. */
import { expect } from "@jest/globals";
import { accept, allShards, limits, ownFormat } from "@posthaste/domain";
import { aCallbackPlan, anOwner, aPolicy, aTenant } from "../../builders/message.ts";
import {
  delivered,
  inLine,
  insert,
  insertAll,
  insertClaimed,
  oneAtATime,
  newMessage,
  noRings,
  read,
  ring,
  ringAll,
  settle,
  type StoreGuarantee,
  tightLane,
} from "./harness.ts";

const newer = { format: ownFormat + 1 };

export function formats(it: StoreGuarantee): void {
  it("of two records only the understood one is claimed or pulled", async (harness) => {
    const [known, stranger] = await insertAll(harness, [{}, newer]);
    const ids = [known, stranger].flatMap((message) => message?.id ?? []);

    const pulled = await harness.records.pull(aTenant, 10, []);
    const claimed = await harness.records.claim(ids, anOwner);

    expect(pulled.map(({ id }) => id)).toEqual([known?.id]);
    expect(claimed.map(({ message }) => message.id)).toEqual([known?.id]);
  });

  it("a record above this build's format is not rung, and its alarm is not the next one", async (harness) => {
    await insert(harness, { ...newer, delayMs: 1_000 });
    await harness.advance(limits.ringAheadMs);

    expect(await harness.alarms.next(allShards)).toBeUndefined();
    expect(await ringAll(harness)).toEqual(noRings);
  });

  it("a record of a newer format is neither read nor cancelled", async (harness) => {
    const { id, tenant } = await insert(harness, newer);

    expect(await harness.records.get(tenant, [id])).toEqual([undefined]);
    expect(await harness.records.cancel(tenant, [id])).toEqual([{ kind: "unknown" }]);
  });

  it("a lane has the highest format of its messages, and does not ring above this build's", async (harness) => {
    await insert(harness, { flow: oneAtATime, ...newer });
    await insert(harness, { flow: oneAtATime });
    await harness.advance(limits.ringAheadMs);

    const [lane] = await harness.flowLanes.rows([tightLane]);

    expect(lane?.format).toBe(ownFormat + 1);
    expect((await ring(harness, allShards, 100, ["flow"])).lanes).toEqual([]);
    expect(await inLine(harness)).toHaveLength(2);
  });

  it("a follow-up in an outbox keeps its format", async (harness) => {
    const callback = aCallbackPlan();
    const { message } = await insertClaimed(harness, { policy: aPolicy({ callback }) });
    const item = { kind: "callback", attempt: 0, endedAt: harness.now(), retried: 0 } as const;
    const record = accept(newMessage(harness), harness.now());

    await harness.records.insert(
      [{ record: { ...record, outbox: [{ ...item, ...newer }] } }],
      "new",
    );

    expect((await read(harness, record.message)).outbox).toEqual([{ ...item, ...newer }]);
    expect((await read(harness, message)).message).not.toHaveProperty("format");
  });

  it("a finished record of a newer format stays, however old", async (harness) => {
    const message = newMessage(harness, newer);
    const record = accept(message, harness.now());
    const state = { kind: "delivered", endedAt: harness.now() } as const;
    await harness.records.insert([{ record: { ...record, state, wakeAt: undefined } }], "new");
    const known = await insertClaimed(harness);
    await settle(harness, known, delivered);
    await harness.advance(60_000);

    const removed = await harness.records.removeFinished(allShards, harness.now(), 100);

    expect(removed).toBeLessThanOrEqual(1);
    expect(await harness.records.insert([{ record }], "new")).toEqual(["known"]);
  });
}
