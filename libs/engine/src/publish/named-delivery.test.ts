/** Which deliverers a gateway names, and the hints that it sends them. Roster and bus are the test's. */
import { describe, expect, it } from "@jest/globals";
import {
  acceptNamed,
  defaultPlan,
  limits,
  type Message,
  type Owner,
  owner,
  type Plan,
  tenantId,
} from "@posthaste/domain";
import { type Hint, noMetrics, type Reading, type RosterEntry } from "@posthaste/ports";
import { aMessage, type MessageOverrides, recordingLog, virtualClock } from "@posthaste/testing";
import { expectAllGivenBack } from "@posthaste/testing/give-back";
import { NamedDeliverers } from "./named-delivery.ts";

const [first, second] = [owner("first"), owner("second")];
const entry = (by: Owner, other: Partial<RosterEntry> = {}): RosterEntry => ({
  ...{ owner: by, partitions: [1], isOpen: true, isBusy: false, format: 1 },
  ...other,
});

async function opened(
  entries: readonly RosterEntry[],
  {
    isAway = false,
    plan = defaultPlan,
  }: { readonly isAway?: boolean; readonly plan?: Plan | "unknown" } = {},
) {
  const clock = virtualClock();
  const hints: Hint[] = [];
  const bus = { up: true, freeBytes: Number.POSITIVE_INFINITY };
  const roster = { entries, reads: 0, isAway, takesMs: 0 };
  let age: () => unknown = () => undefined;
  const named = new NamedDeliverers({
    clock,
    log: recordingLog(),
    metrics: { ...noMetrics, watch: (_, read: () => Reading | Promise<Reading>) => (age = read) },
    planOf: () => (plan === "unknown" ? undefined : plan),
    bus: {
      publish: async (_, events) => void hints.push(...(events as readonly Hint[])),
      isUp: () => bus.up,
      freeRecordBytes: () => bus.freeBytes,
    },
    roster: {
      read: async () => {
        roster.reads += 1;
        if (roster.takesMs > 0)
          await new Promise<void>((resolve) => clock.after(roster.takesMs, resolve));
        if (roster.isAway) throw new Error("away");
        return roster.entries;
      },
    },
  });
  await named.start();
  await clock.advance(0);
  const message = (overrides: MessageOverrides = {}): Message =>
    aMessage({ now: clock.now(), ...overrides });
  const name = (overrides?: MessageOverrides): Owner | undefined =>
    named.ownerFor(message(overrides));
  const tell = (by: Owner): void => named.sendHint(acceptNamed(message(), by, clock.now()));
  return { age: () => age(), bus, clock, hints, message, name, named, roster, tell };
}

describe("a gateway names", () => {
  it("the open deliverers of the roster, in turn", async () => {
    const { name } = await opened([entry(first), entry(second)]);

    expect([name(), name(), name()]).toEqual([first, second, first]);
  });

  it("deliverers with time to spare, and busy ones only while all are busy", async () => {
    const { clock, name, roster } = await opened([entry(first), entry(second, { isBusy: true })]);
    expect([name(), name(), name()]).toEqual([first, first, first]);

    roster.entries = [entry(first, { isBusy: true }), entry(second, { isBusy: true })];
    await clock.advance(500);

    expect(new Set([name(), name()])).toEqual(new Set([first, second]));
  });

  it("no deliverer that is closed, has no partition, or does not understand the message", async () => {
    const { name } = await opened([
      entry(owner("closed"), { isOpen: false }),
      entry(owner("deaf"), { partitions: [] }),
      entry(first),
      entry(second, { format: 2 }),
    ]);

    expect(new Set(Array.from({ length: 8 }, () => name()))).toEqual(new Set([first, second]));
    expect(new Set(Array.from({ length: 8 }, () => name({ format: 2 })))).toEqual(
      new Set([second]),
    );
    expect(name({ format: 3 })).toBeUndefined();
  });

  it.each<[string, Plan | "unknown"]>([
    ["whose calls are capped", { ...defaultPlan, parallelismMax: 1 }],
    ["that is not known here", "unknown"],
  ])("none for a tenant %s", async (_, plan) => {
    const { named, message } = await opened([entry(first)], { plan });

    expect(named.ownerFor(message())).toBeUndefined();
  });

  it("none while the bus is away", async () => {
    const { bus, name } = await opened([entry(first)]);
    bus.up = false;

    expect(name()).toBeUndefined();
  });

  it("none once its last reading is three seconds old, counted from its beginning", async () => {
    const { age, clock, name, roster } = await opened([entry(first)]);
    roster.takesMs = 1_000;
    await clock.advance(1_500);
    roster.isAway = true;
    await clock.advance(limits.rosterFreshMs - 1_001);
    expect(name()).toBe(first);
    await clock.advance(2);

    expect(name()).toBeUndefined();
    expect(age()).toBeGreaterThan(limits.rosterFreshMs / 1_000);
    roster.isAway = false;
    await clock.advance(2_000);
    expect(name()).toBe(first);
  });

  it("none if it could never read the roster, and continues to try while it inserts", async () => {
    const { age, clock, name, roster } = await opened([], { isAway: true });
    await clock.advance(1_000);

    expect(name()).toBeUndefined();
    expect(roster.reads).toBeGreaterThanOrEqual(2);
    expect(age()).toBeGreaterThan(0);
  });

  it("deliverers from a new reading after it was idle: it reads nothing while it inserts nothing", async () => {
    const { age, clock, name, roster } = await opened([entry(first)]);
    await clock.advance(20_000);
    const { reads } = roster;
    await clock.advance(60_000);
    expect(roster.reads).toBe(reads);
    expect(age()).toBe(0);
    roster.entries = [entry(second)];

    expect(name()).toBeUndefined();
    await clock.advance(0);

    expect(name()).toBe(second);
  });

  it("deliverers from its last reading for up to three seconds, also after it was idle", async () => {
    const { clock, name, roster } = await opened([entry(first)]);
    await clock.advance(10_500);
    const { reads } = roster;
    roster.entries = [entry(second)];
    await clock.advance(2_000);
    expect(roster.reads).toBe(reads);

    expect(name()).toBeUndefined();
    await clock.advance(0);

    expect(name()).toBe(second);
  });

  it("none once it has stopped, and reads no more", async () => {
    const { clock, name, named, roster } = await opened([entry(first)]);
    await named.stop();
    const { reads } = roster;
    expect(name()).toBeUndefined();
    await clock.advance(20_000);

    expect(roster.reads).toBe(reads);
    expect(clock.armed).toBe(0);
  });

  it("as many again when the bytes of all hints are given back", async () => {
    await expectAllGivenBack(async () => {
      const { bus, clock, message, named } = await opened([entry(first)]);
      bus.freeBytes = 10_000;
      const takes = [10, 1_000, 3_000].map((bytes) => () => {
        const sent = message({ body: new Uint8Array(bytes) });
        const by = named.ownerFor(sent);
        if (by === undefined) return undefined;
        const record = acceptNamed(sent, by, clock.now());
        return { giveBack: () => named.release(record), fail: () => named.sendHint(record) };
      });
      return { takes, held: () => undefined, endsOnce: true };
    });
  });

  it("no deliverer if the bus has no bytes left for the hint, messages that are being inserted included", async () => {
    const { bus, clock, name, named, message } = await opened([entry(first)]);
    const large = { body: new Uint8Array(64 * 1024) };
    bus.freeBytes = 200_000;
    expect([name(large), name(large), name(large)]).toEqual([first, first, undefined]);
    expect(name({ body: new Uint8Array(10) })).toBe(first);

    named.release(acceptNamed(message(large), first, clock.now()));
    expect(name(large)).toBe(first);
    named.sendHint(acceptNamed(message(large), first, clock.now()));

    // The bus now counts the hint.
    expect(name(large)).toBe(first);
  });
});

describe("a deliverer that was named", () => {
  it("receives records on each of its partitions in turn, on one for a tenth of a second", async () => {
    const { clock, hints, tell } = await opened([
      entry(first, { partitions: [1, 2, 3, 4] }),
      entry(second, { partitions: [5, 6] }),
    ]);
    for (let n = 0; n < 4; n++) {
      const before = hints.length;
      for (let m = 0; m < 4; m++) for (const by of [first, second]) tell(by);
      expect(new Set(hints.slice(before).map(({ to }) => to)).size).toBe(2);
      await clock.advance(100);
    }

    expect(new Set(hints.map(({ to }) => to))).toEqual(new Set([1, 2, 3, 4, 5, 6]));
    for (const { id, record, to } of hints) {
      expect(record?.message.id).toBe(id);
      expect((to ?? 0) > 4).toBe(record?.state.owner === second);
    }
  });

  it("receives messages that were inserted for it after it has closed or left, until it ends its subscription", async () => {
    const { clock, hints, roster, tell } = await opened([entry(first)]);
    roster.entries = [entry(first, { isOpen: false, partitions: [7] })];
    await clock.advance(500);
    tell(first);
    roster.entries = [entry(second)];
    await clock.advance(500);
    tell(first);
    await clock.advance(limits.rosterFreshMs + 500);
    tell(first);

    expect(hints.map(({ to }) => to)).toEqual([7, 7, undefined]);
  });
});

describe("a publish", () => {
  const busy = [entry(first, { isBusy: true }), entry(second, { isBusy: true, isOpen: false })];
  const [flooding, other] = [tenantId("flooding"), tenantId("other")];
  /** Makes the publishes of a reading that do not wait, and one that waits. */
  function flood(named: NamedDeliverers): { isOver: boolean } {
    for (let n = 0; n < 10; n++) expect(named.waitWhileBusy(flooding)).toBeUndefined();
    const wait = { isOver: false };
    void named.waitWhileBusy(flooding)?.then(() => (wait.isOver = true));
    return wait;
  }

  it("waits while every deliverer is busy, until one of them is not", async () => {
    const { clock, named, roster } = await opened(busy);
    const wait = flood(named);
    await clock.advance(49);
    expect(wait.isOver).toBe(false);
    roster.entries = [entry(first)];
    await clock.advance(1);

    expect(wait.isOver).toBe(true);
    for (let n = 0; n < 20; n++) expect(named.waitWhileBusy(flooding)).toBeUndefined();
  });

  it("waits for 500 ms at most, also when the roster does not answer", async () => {
    const { clock, named, roster } = await opened(busy);
    roster.takesMs = 10_000;
    const wait = flood(named);
    await clock.advance(499);
    expect(wait.isOver).toBe(false);
    await clock.advance(1);

    expect(wait.isOver).toBe(true);
  });

  it("of a tenant that publishes little waits for nobody, and none waits once the roster cannot be read or the naming stops", async () => {
    const { clock, named, roster } = await opened(busy);
    const wait = flood(named);
    expect(named.waitWhileBusy(other)).toBeUndefined();
    roster.isAway = true;
    await clock.advance(50);
    expect(wait.isOver).toBe(true);

    roster.isAway = false;
    await clock.advance(500);
    const last = flood(named);
    await named.stop();
    await clock.advance(0);

    expect(last.isOver).toBe(true);
    expect(clock.armed).toBe(0);
  });
});
