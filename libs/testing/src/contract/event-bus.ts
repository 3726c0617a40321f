/** The contract of `EventBus`: facts arrive, in any order and at least once; hints may be lost, so a proof repeats them. */
import { expect } from "@jest/globals";
import { type AttemptFact, type Configuration, type Message, shardCount } from "@posthaste/domain";
import { type EventBus, type Hint, type SettledEvent, type WakeEvent } from "@posthaste/ports";
import { aMessage, aPolicy, aTenant, newId } from "../builders/message.ts";
import { anAnswer } from "../builders/outcome.ts";
import { epochStart } from "../virtual-clock.ts";
import { type Closable, contract, type Guarantee } from "./guarantee.ts";

export type EventBusHarness = Closable & {
  readonly bus: EventBus;
  /** The same bus as another process sees it. */
  readonly other?: EventBus;
  readonly advance: (ms: number) => Promise<void>;
};

export function describeEventBus(name: string, open: () => Promise<EventBusHarness>): void {
  contract(`${name}: an event bus`, open, {}, (it) => {
    sharedGuarantees(it);
    factGuarantees(it);
    hintGuarantees(it);
    ownershipGuarantees(it);
    stateGuarantees(it);
  });
}

function sharedGuarantees(it: Guarantee<EventBusHarness>): void {
  it(
    "every group receives events published after it subscribed",
    async (harness) => {
      const { bus, other = bus } = harness;
      const heard = { dispatcher: new Set<string>(), log: new Set<string>() };
      await bus.subscribe("message.settled", "dispatcher", hearing(heard.dispatcher));
      await other.subscribe("message.settled", "log", hearing(heard.log));
      const events = [settled(), settled(), settled()];

      await publishAll(harness, () => bus.publish("message.settled", events));

      const ids = events.map(({ id }) => id).toSorted();
      await eventually(harness, () => heard.dispatcher.size === 3 && heard.log.size === 3);
      expect([...heard.dispatcher].toSorted()).toEqual(ids);
      expect([...heard.log].toSorted()).toEqual(ids);
    },
    heardMsMax,
  );

  it(
    "the members of a group share the events",
    async (harness) => {
      const { bus, other = bus } = harness;
      const heard: string[] = [];
      for (const each of [bus, other]) {
        await each.subscribe("message.settled", "group", async (events) => {
          heard.push(...events.map(({ id }) => id));
        });
      }
      const events = Array.from({ length: 50 }, () => settled());

      await publishAll(harness, () => bus.publish("message.settled", events));

      await eventually(harness, () => new Set(heard).size === events.length);
      expect([...new Set(heard)].toSorted()).toEqual(events.map(({ id }) => id).toSorted());
    },
    heardMsMax,
  );

  it(
    "topics do not mix",
    async (harness) => {
      const { bus } = harness;
      const [due, facts] = [new Set<string>(), new Set<string>()];
      await bus.subscribe("message.due", "group", hearing(due));
      await bus.subscribe("message.settled", "group", hearing(facts));
      const [aHint, aFact] = [hint(), settled()];

      await publishAll(harness, () => bus.publish("message.settled", [aFact]));
      await sayUntil(
        harness,
        () => bus.publish("message.due", [aHint]),
        () => due.size > 0,
      );

      await eventually(harness, () => facts.size > 0);
      expect([...due, ...facts]).toEqual([aHint.id, aFact.id]);
    },
    heardMsMax,
  );

  it(
    "a member that has unsubscribed receives nothing, and the rest of its group receives everything",
    async (harness) => {
      const { bus, other = bus } = harness;
      const [gone, stays] = [new Set<string>(), new Set<string>()];
      const unsubscribe = await bus.subscribe("message.settled", "group", hearing(gone));
      await other.subscribe("message.settled", "group", hearing(stays));
      await unsubscribe();
      await unsubscribe();
      const events = Array.from({ length: 10 }, () => settled());

      await publishAll(harness, () => bus.publish("message.settled", events));

      await eventually(harness, () => stays.size === events.length);
      expect(gone.size).toBe(0);
    },
    heardMsMax,
  );

  it(
    "a fact without a subscriber, or an empty list of facts, is no error",
    async (harness) => {
      const { bus } = harness;
      await publishAll(harness, () => bus.publish("message.settled", [settled()]));
      await bus.publish("message.due", [hint()]);
      await bus.publish("message.due", []);
      await bus.publish("message.settled", []);
    },
    heardMsMax,
  );

  it(
    "an event arrives unchanged, including the bytes of an answer",
    async (harness) => {
      const { bus } = harness;
      const said = settled({
        response: anAnswer(500, {
          headers: [
            ["X-A", "1"],
            ["X-A", "2"],
          ],
          body: Uint8Array.of(0, 0xff),
        }),
      });
      const heard: SettledEvent[] = [];
      await bus.subscribe("message.settled", "group", async (events) => {
        heard.push(...events);
      });

      await publishAll(harness, () => bus.publish("message.settled", [said]));

      await eventually(harness, () => heard.length > 0);
      expect(heard[0]).toEqual(said);
    },
    heardMsMax,
  );
}

function factGuarantees(it: Guarantee<EventBusHarness>): void {
  it(
    "a fact whose handler throws is delivered again until the handler succeeds",
    async (harness) => {
      const { bus } = harness;
      const heard = new Set<string>();
      let failures = 2;
      await bus.subscribe("message.settled", "group", async (events) => {
        if (failures-- > 0) throw new Error("the store is away");
        for (const { id } of events) heard.add(id);
      });
      const event = settled();

      await publishAll(harness, () => bus.publish("message.settled", [event]));

      await eventually(harness, () => heard.size > 0);
      expect([...heard]).toEqual([event.id]);
    },
    heardMsMax,
  );

  it(
    "a fact whose handler throws in one group is delivered to the others",
    async (harness) => {
      const { bus } = harness;
      const heard = new Set<string>();
      let failing = true;
      await bus.subscribe("message.settled", "failing", async () => {
        if (failing) throw new Error("the store is away");
      });
      await bus.subscribe("message.settled", "healthy", hearing(heard));

      const event = settled();
      const published = bus.publish("message.settled", [event]);
      published.catch(() => undefined);
      await eventually(harness, () => heard.size > 0);
      failing = false;
      await publishAll(harness, () =>
        published.catch(() => bus.publish("message.settled", [event])),
      );

      expect(heard.size).toBe(1);
    },
    heardMsMax,
  );

  it(
    "of 1,000 facts published at once all are delivered",
    async (harness) => {
      const { bus, other = bus } = harness;
      const heard = new Set<string>();
      await bus.subscribe("message.settled", "group", hearing(heard));
      const batches = Array.from({ length: 50 }, () => Array.from({ length: 20 }, () => settled()));

      await publishAll(harness, () =>
        Promise.all(
          batches.map((batch, i) => (i % 2 === 0 ? bus : other).publish("message.settled", batch)),
        ),
      );

      await eventually(harness, () => heard.size === 1_000);
      expect(heard.size).toBe(1_000);
    },
    heardMsMax,
  );
}

function hintGuarantees(it: Guarantee<EventBusHarness>): void {
  it(
    "a hint whose handler throws may vanish, but fails no publish, and later hints arrive",
    async (harness) => {
      const { bus } = harness;
      const heard = new Set<string>();
      let failing = true;
      await bus.subscribe("message.due", "group", async (events) => {
        if (failing) throw new Error("the buffer is broken");
        for (const { id } of events) heard.add(id);
      });
      await bus.publish("message.due", [hint()]);
      await harness.advance(1_000);
      failing = false;
      const later = hint();

      await sayUntil(
        harness,
        () => bus.publish("message.due", [later]),
        () => heard.has(later.id),
      );

      expect(heard).toContain(later.id);
    },
    heardMsMax,
  );

  it(
    "a hint arrives unchanged on each of its topics",
    async (harness) => {
      const { bus } = harness;
      const [due, wakes, accepted]: [unknown[], unknown[], unknown[]] = [[], [], []];
      await bus.subscribe("message.due", "group", async (events) => void due.push(...events));
      await bus.subscribe("scheduler.wake", "group", async (events) => void wakes.push(...events));
      await bus.subscribe(
        "message.accepted",
        "group",
        async (events) => void accepted.push(...events),
      );
      const said = {
        due: hint(),
        wake: { shard: 63, at: epochStart, source: "run" as const },
        accepted: { message: configuration(aMessage()) },
      };

      await sayUntil(
        harness,
        async () => {
          await bus.publish("message.due", [said.due]);
          await bus.publish("scheduler.wake", [said.wake]);
          await bus.publish("message.accepted", [said.accepted]);
        },
        () => due.length > 0 && wakes.length > 0 && accepted.length > 0,
      );

      expect([due[0], wakes[0], accepted[0]]).toEqual([said.due, said.wake, said.accepted]);
    },
    heardMsMax,
  );
}

type Member = { owned: ReadonlySet<number>; readonly heard: number[]; readonly strange: number[] };

function ownershipGuarantees(it: Guarantee<EventBusHarness>): void {
  it(
    "a wake reaches a member that owns its shard",
    async (harness) => {
      const { bus, other = bus } = harness;
      const [one, two] = [await joining(bus), await joining(other)];

      await sayUntil(
        harness,
        () => bus.publish("scheduler.wake", wakes()),
        () => new Set([...one.heard, ...two.heard]).size === shardCount,
      );

      expect([one.strange, two.strange]).toEqual([[], []]);
      expect(new Set([...one.owned, ...two.owned]).size).toBe(shardCount);
    },
    heardMsMax,
  );

  it(
    "when a member leaves, the others own every shard and receive every wake",
    async (harness) => {
      const { bus, other = bus } = harness;
      const leaving = await joining(bus);
      const staying = await joining(other);
      await leaving.leave();
      await eventually(harness, () => staying.owned.size === shardCount);

      await sayUntil(
        harness,
        () => bus.publish("scheduler.wake", wakes()),
        () => new Set(staying.heard).size === shardCount,
      );

      expect(staying.owned.size).toBe(shardCount);
      expect(leaving.heard).toEqual([]);
    },
    heardMsMax,
  );
}

/** Subscribes as a scheduler does. `strange` collects wakes of shards that it did not own when it received them. */
async function joining(bus: EventBus): Promise<Member & { leave: () => Promise<void> }> {
  const member: Member = { owned: new Set(), heard: [], strange: [] };
  const leave = await bus.subscribe(
    "scheduler.wake",
    "schedulers",
    async (events) => {
      for (const { shard } of events) {
        member.heard.push(shard);
        if (!member.owned.has(shard)) member.strange.push(shard);
      }
    },
    { owns: (shards) => (member.owned = new Set(shards)) },
  );
  return Object.assign(member, { leave });
}

const wakes = (): readonly WakeEvent[] =>
  Array.from({ length: shardCount }, (_, shard) => ({ shard, at: epochStart, source: "record" }));

function stateGuarantees(it: Guarantee<EventBusHarness>): void {
  it(
    "a connected bus is up, and receives the subscribed topics",
    async (harness) => {
      const { bus } = harness;
      await bus.subscribe("message.due", "group", async () => undefined);

      await eventually(harness, () => bus.isUp() && bus.hears("message.due"));

      expect([bus.isUp(), bus.hears("message.due")]).toEqual([true, true]);
    },
    heardMsMax,
  );
}

/** The longest that a test waits for an event to be handled. On an idle bus it waits no longer than needed. */
const heardMsMax = 60_000;
const lookEveryMs = 50;
const repeatEveryMs = 2_000;

/** Publishes again and again, since a hint may be lost. */
async function sayUntil(
  harness: EventBusHarness,
  say: () => Promise<void>,
  heard: () => boolean,
): Promise<void> {
  let sinceMs = repeatEveryMs;
  for (let waitedMs = 0; waitedMs < heardMsMax && !heard(); waitedMs += lookEveryMs) {
    if (sinceMs >= repeatEveryMs) {
      await say();
      sinceMs = 0;
    }
    await harness.advance(lookEveryMs);
    sinceMs += lookEveryMs;
  }
  if (!heard()) throw new Error(`not heard within ${heardMsMax} ms`);
}

async function eventually({ advance }: EventBusHarness, heard: () => boolean): Promise<void> {
  for (let waitedMs = 0; waitedMs < heardMsMax; waitedMs += lookEveryMs) {
    if (heard()) return;
    await advance(lookEveryMs);
  }
  throw new Error(`not heard within ${heardMsMax} ms`);
}

/** Lets time pass during a publish, which may wait for that. Publishes refused events again. */
async function publishAll(
  harness: EventBusHarness,
  publish: () => Promise<unknown>,
): Promise<void> {
  let taken = false;
  let saying = false;
  let failure: unknown;
  const say = async (): Promise<void> => {
    saying = true;
    try {
      await publish();
      taken = true;
    } catch (error) {
      failure = error;
    }
    saying = false;
  };
  for (let waitedMs = 0; waitedMs < heardMsMax && !taken; waitedMs += lookEveryMs) {
    if (!saying) void say();
    await harness.advance(lookEveryMs);
  }
  if (!taken) throw new Error(`not taken within ${heardMsMax} ms`, { cause: failure });
}

const hearing =
  (heard: Set<string>) =>
  async (events: readonly { readonly id: string }[]): Promise<void> => {
    for (const { id } of events) heard.add(id);
  };

const hint = (): Hint => ({ id: newId(), tenant: aTenant, origin: 7, epoch: 3, bytes: 5 });

function settled(overrides: Partial<AttemptFact> = {}): SettledEvent {
  const message = aMessage({ policy: aPolicy({ labels: ["a"] }), headers: [["__proto__", "x"]] });
  const { id } = message;
  const fact: AttemptFact = {
    kind: "fact",
    id,
    attempt: 0,
    startedAt: epochStart,
    endedAt: epochStart + 5,
    ended: "retry",
  };
  return { id, message: configuration(message), fact: { ...fact, ...overrides } };
}

function configuration(message: Message): Configuration {
  const { body: _, ...rest } = message;
  return rest;
}
