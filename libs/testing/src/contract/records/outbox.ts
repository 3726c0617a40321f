import { expect } from "@jest/globals";
import { type FollowUp, limits, type Policy } from "@posthaste/domain";
import { aCallbackPlan, aPolicy } from "../../builders/message.ts";
import { anAnswer } from "../../builders/outcome.ts";
import { dice } from "../../seeded-random.ts";
import {
  claimOne,
  clearAll,
  delivered,
  expectAlarm,
  insertClaimed,
  noRings,
  read,
  refused,
  ringAll,
  settle,
  type StoreGuarantee,
} from "./harness.ts";

export function outbox(it: StoreGuarantee): void {
  it("a settle returns the remaining follow-ups, and the record keeps exactly those", async (harness) => {
    const record = await insertClaimed(harness, { policy: { ...withCallbacks, retriesMax: 0 } });

    const answer = await settle(harness, record, refused);

    const stored = await read(harness, record.message);
    expect(answer).toEqual({ kind: "ok", left: expect.any(Array) as unknown });
    expect(answer.kind === "ok" && byKind(answer.left)).toEqual(byKind(stored.outbox));
    expect(stored.outbox.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(["callback", "failureCallback"] satisfies FollowUp["kind"][]),
    );
  });

  it("a follow-up holds the needed data of its attempt, with the answer byte for byte", async (harness) => {
    const record = await insertClaimed(harness, { policy: withCallbacks });
    const body = dice(3).bytes(100_000);
    const answer = anAnswer(500, {
      headers: [
        ["X-A", "1"],
        ["x-a", "2"],
      ],
      body,
      truncated: true,
    });

    await settle(harness, record, answer);

    const { outbox: items } = await read(harness, record.message);
    const callback = items.find(({ kind }) => kind === "callback");
    expect(callback).toMatchObject({
      attempt: 0,
      retried: 0,
      endedAt: harness.now(),
      response: {
        status: 500,
        headers: [
          ["X-A", "1"],
          ["x-a", "2"],
        ],
        truncated: true,
      },
    });
    const kept = callback && "response" in callback ? callback.response?.body : undefined;
    expect(kept && Buffer.compare(kept, body)).toBe(0);
  });

  it("follow-ups of earlier attempts are kept beside those of the last, through claims and retries", async (harness) => {
    const first = await insertClaimed(harness, { policy: withCallbacks });
    await settle(harness, first, refused);
    await harness.advance(10_000);
    const second = await claimOne(harness, first.message.id);
    await settle(harness, second, delivered);

    const callbacks = (await read(harness, first.message)).outbox.filter(
      ({ kind }) => kind === "callback",
    );

    expect(second.outbox.map(({ kind, attempt }) => [kind, attempt])).toContainEqual([
      "callback",
      0,
    ]);
    expect(callbacks.map(({ attempt }) => attempt)).toEqual([0, 1]);
  });

  it("a clear removes the follow-up of its attempt and kind, and no other", async (harness) => {
    const first = await insertClaimed(harness, { policy: { ...withCallbacks, retriesMax: 1 } });
    await settle(harness, first, refused);
    await harness.advance(10_000);
    await settle(harness, await claimOne(harness, first.message.id), refused);
    const { id } = first.message;

    await harness.records.clear([
      { id, attempt: 1, item: "callback" },
      { id, attempt: 0, item: "failureCallback" },
      { id: harness.ids.next(), attempt: 0, item: "callback" },
    ]);

    const left = (await read(harness, first.message)).outbox.map(({ kind, attempt }) => [
      kind,
      attempt,
    ]);
    expect(left).toContainEqual(["callback", 0]);
    expect(left).toContainEqual(["failureCallback", 1]);
    expect(left).not.toContainEqual(["callback", 1]);
  });

  it("clearing twice is clearing once, also when both happen at the same time", async (harness) => {
    const { records, other = harness } = harness;
    const record = await insertClaimed(harness, { policy: withCallbacks });
    await settle(harness, record, delivered);
    const items = (await read(harness, record.message)).outbox.map(({ attempt, kind }) => ({
      id: record.message.id,
      attempt,
      item: kind,
    }));

    await Promise.all([records.clear(items), other.records.clear(items)]);
    await records.clear(items);
    await records.clear([]);

    expect((await read(harness, record.message)).outbox).toEqual([]);
  });

  it("while an outbox is not empty the alarm is at most 30 s away, whatever the state", async (harness) => {
    const record = await insertClaimed(harness, { policy: withCallbacks });
    const from = harness.now();
    await settle(harness, record, anAnswer(503, { headers: [["Retry-After", "3600"]] }));

    const held = await read(harness, record.message);

    expect(held.state).toEqual({
      kind: "held",
      dueAt: from + 3_600_000,
      waitMs: 3_600_000,
    });
    expect(held.wakeAt).toBeLessThanOrEqual(harness.now() + limits.ringAheadMs);
  });

  it("a record whose outbox was cleared still has the alarm of its state", async (harness) => {
    const record = await insertClaimed(harness, { policy: withCallbacks });
    const from = harness.now();
    await settle(harness, record, anAnswer(503, { headers: [["Retry-After", "3600"]] }));

    await clearAll(harness, record.message);

    expectAlarm(await read(harness, record.message), from, harness.now());
  });

  it("an outbox that is not cleared rings with the whole record, every 30 s", async (harness) => {
    const record = await insertClaimed(harness, {
      policy: withCallbacks,
      body: new TextEncoder().encode("source"),
    });
    await settle(harness, record, delivered);
    await harness.advance(limits.ringAheadMs);
    const first = await ringAll(harness);
    await harness.advance(limits.ringAheadMs);
    const second = await ringAll(harness);

    for (const { followUps } of [first, second]) {
      expect(followUps.map(({ message }) => message)).toEqual([record.message]);
      expect(followUps.flatMap(({ outbox: items }) => items.map(({ kind }) => kind))).toContain(
        "callback",
      );
    }
  });

  it("the outbox of an unfinished record rings with its id alone, every 30 s", async (harness) => {
    const record = await insertClaimed(harness, { policy: withCallbacks });
    await settle(harness, record, anAnswer(503, { headers: [["Retry-After", "3600"]] }));
    const { id } = record.message;
    await harness.advance(limits.ringAheadMs);
    const first = await ringAll(harness);
    await harness.advance(limits.ringAheadMs);
    const second = await ringAll(harness);

    for (const said of [first, second]) {
      expect(said.outboxes).toEqual([id]);
      expect([said.hints, said.followUps]).toEqual([[], []]);
    }
    const { outbox: items } = await read(harness, record.message);
    expect(items.map(({ kind }) => kind)).toContain("callback");
  });

  it("a cleared outbox does not ring", async (harness) => {
    const record = await insertClaimed(harness, { policy: withCallbacks });
    await settle(harness, record, delivered);
    await clearAll(harness, record.message);
    await harness.advance(limits.ringAheadMs);

    expect(await ringAll(harness)).toEqual(noRings);
  });
}

const callback = aCallbackPlan();
const withCallbacks: Policy = aPolicy({ callback, failureCallback: callback });

const byKind = (items: readonly FollowUp[]): readonly FollowUp[] =>
  items.toSorted((a, b) => a.attempt - b.attempt || a.kind.localeCompare(b.kind));
