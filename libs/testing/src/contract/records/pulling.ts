import { expect } from "@jest/globals";
import { limits, originHash } from "@posthaste/domain";
import { anotherTenant, aTenant } from "../../builders/message.ts";
import {
  claimOne,
  insert,
  insertAll,
  insertDelivered,
  oneAtATime,
  ringAll,
  type StoreGuarantee,
  tightLane,
} from "./harness.ts";

export function pulling(it: StoreGuarantee): void {
  it("a pull finds the oldest due records of the tenant, oldest first, up to its limit", async (harness) => {
    const messages = await insertAll(harness, [{}, {}, {}, {}, {}]);
    await insert(harness, { tenant: anotherTenant });

    const hints = await harness.records.pull(aTenant, 3, []);

    expect(hints.map(({ id }) => id)).toEqual(messages.slice(0, 3).map(({ id }) => id));
    expect(hints[0]).toEqual({
      id: messages[0]?.id,
      tenant: aTenant,
      origin: originHash(messages[0]?.url ?? ""),
      epoch: 0,
      bytes: messages[0]?.body.length,
    });
  });

  it("the time since when the oldest due record waits is known, through rings and retries", async (harness) => {
    const { records, now, advance } = harness;
    expect(await records.dueSince(aTenant)).toBeUndefined();
    await insertAll(harness, [{ delayMs: 600_000 }, { flow: oneAtATime }]);
    await insert(harness, { tenant: anotherTenant });
    expect(await records.dueSince(aTenant)).toBeUndefined();

    const from = now();
    const first = await insert(harness);
    const to = now();
    await advance(limits.ringAheadMs + 1);
    await ringAll(harness);
    const second = await insert(harness);
    const since = await records.dueSince(aTenant);
    await claimOne(harness, first.id);
    const sinceSecond = await records.dueSince(aTenant);
    await claimOne(harness, second.id);

    // A late ring has set the alarm later.
    expect(since).toBeGreaterThanOrEqual(from);
    expect(since).toBeLessThanOrEqual(to + 1_000);
    expect(sinceSecond).toBeGreaterThanOrEqual(from + limits.ringAheadMs);
    expect(await records.dueSince(aTenant)).toBeUndefined();
  });

  it("a pull passes over the given origins", async (harness) => {
    const crowded = "https://crowded.example/a";
    const messages = await insertAll(harness, [{ url: crowded }, {}, { url: `${crowded}/b` }, {}]);

    const hints = await harness.records.pull(aTenant, 10, [originHash(crowded)]);

    expect(hints.map(({ id }) => id)).toEqual([messages[1]?.id, messages[3]?.id]);
  });

  it("a pull leaves records that cannot be claimed now: held, waiting, claimed, finished", async (harness) => {
    const [due] = await insertAll(harness, [{}, { delayMs: 60_000 }, { flow: oneAtATime }]);
    const { id } = await insert(harness);
    await claimOne(harness, id);
    await insertDelivered(harness);

    const hints = await harness.records.pull(aTenant, 10, []);

    expect(hints.map((hint) => hint.id)).toEqual([due?.id]);
  });

  it("a pull finds granted messages", async (harness) => {
    const { id } = await insert(harness, { flow: oneAtATime });
    await harness.flowLanes.promote(tightLane, [id], harness.now() + limits.grantMs);

    expect((await harness.records.pull(aTenant, 10, [])).map((hint) => hint.id)).toEqual([id]);
  });

  it("a pull finds a due record whose hint was dropped", async (harness) => {
    const { id } = await insert(harness, { delayMs: 2_000 });
    await harness.advance(2_000);
    await ringAll(harness);

    expect((await harness.records.pull(aTenant, 10, [])).map((hint) => hint.id)).toEqual([id]);
  });
}
