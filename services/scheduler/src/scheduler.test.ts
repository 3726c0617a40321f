import { describe, expect, it } from "@jest/globals";
import {
  type AlarmSource,
  alarmSources,
  allShards,
  callbackId,
  childId,
  flowLaneId,
  limits,
  type Message,
  shardOf,
} from "@posthaste/domain";
import { type EventBus, type Alarms, type Records, type FlowLanes } from "@posthaste/ports";
import { aCallbackPlan, aPolicy, aTenant, someEndpoints, aFanOut } from "@posthaste/testing";
import {
  away,
  claim,
  deliver,
  hintsOf,
  insert,
  open,
  type Ports,
  rest,
  start,
  stateOf,
  watchedClock,
  withAlarms,
  withRecords,
} from "./opened.fixture.ts";
import { Scheduler } from "./scheduler.ts";

const flow = { key: "tight", limits: { parallelism: 1, periodMs: 1_000 } };
const lane = flowLaneId(aTenant, flow.key);

const wake = (ports: Ports, at: number, source: AlarmSource | "any" = "any"): Promise<void> =>
  ports.bus.publish("scheduler.wake", [{ shard: 0, at, source }]);

/** Returns alarms that record which sources they were asked for. */
function asking(ports: Ports): { ports: Ports; asked: string[] } {
  const asked: string[] = [];
  const note = (call: string, sources: readonly AlarmSource[] = alarmSources): void =>
    void asked.push(...sources.map((source) => `${call} ${source}`));
  const ring: Alarms["ring"] = (shards, limit, sources) => {
    note("ring", sources);
    return ports.alarms.ring(shards, limit, sources);
  };
  const next: Alarms["next"] = (shards, sources) => {
    note("next", sources);
    return ports.alarms.next(shards, sources);
  };
  return { ports: withAlarms(ports, { ring, next }), asked };
}

function watched(ports: Ports): { ports: Ports; armed: readonly number[] } {
  const { clock, armed } = watchedClock(ports.clock);
  return { ports: { ...ports, clock }, armed };
}

/** Returns a `clear` that waits for `letGo`. */
function heldClear({ records }: Ports) {
  const { promise: opens, resolve: letGo } = Promise.withResolvers<void>();
  const clear: Records["clear"] = async (items) => {
    await opens;
    await records.clear(items);
  };
  return { clear, letGo };
}

function counting(ports: Ports): { ports: Ports; rounds: number[] } {
  const rounds: number[] = [];
  const ring: Alarms["ring"] = async (...args) => {
    rounds.push(ports.clock.now());
    return ports.alarms.ring(...args);
  };
  return { ports: withAlarms(ports, { ring }), rounds };
}

describe("the scheduler's timer", () => {
  it("is one, to the earliest alarm of its shards, beside the one of the sweep", async () => {
    const { ports, armed } = watched(open());
    const now = ports.clock.now();
    for (const delayMs of [20_000, 7_000, 12_000]) await insert(ports, { delayMs });

    await start(ports);

    expect(armed.toSorted()).toEqual([now + 7_000, now + limits.sweepEveryMs]);
  });

  it("rings each message at its own time, to the millisecond, with no round in between", async () => {
    const { ports, rounds } = counting(open());
    const now = ports.clock.now();
    const heard = await hintsOf(ports);
    const messages = [];
    for (const delayMs of [2_001, 1_000]) messages.push(await insert(ports, { delayMs }));

    await start(ports);
    await ports.clock.advance(5_000);

    expect(heard).toEqual([
      { id: messages[1]?.id, at: now + 1_000 },
      { id: messages[0]?.id, at: now + 2_001 },
    ]);
    expect(rounds).toEqual([now, now + 1_000, now + 2_001]);
  });

  it("is set earlier by a wake for an earlier time, and left alone by one for a later", async () => {
    const { ports, armed } = watched(open());
    const now = ports.clock.now();
    await insert(ports, { delayMs: 10_000 });
    await start(ports);

    await wake(ports, now + 20_000);
    await rest(ports);
    expect(armed).toContain(now + 10_000);
    expect(armed).toHaveLength(2);
    await wake(ports, now + 3_000);
    await rest(ports);

    expect(armed).toContain(now + 3_000);
    expect(armed).toHaveLength(2);
  });

  it("looks at an idle store every 30 s, though a wake named an alarm a year ahead", async () => {
    const { ports, rounds } = counting(open());
    const now = ports.clock.now();
    await start(ports);
    await wake(ports, now + 365 * 86_400_000);

    await ports.clock.advance(60_000);

    expect(rounds).toEqual([now, now + 30_000, now + 60_000]);
  });

  it("finds an alarm without a hint in 30 s at the latest", async () => {
    const ports = open();
    const heard = await hintsOf(ports);
    await start(ports);
    const message = await insert(ports, { delayMs: 1_000 });

    await ports.clock.advance(30_000);

    expect(heard.map(({ id }) => id)).toEqual([message.id]);
  });
});

describe("a source of alarms", () => {
  it("is looked at when it has something due, and no other source is", async () => {
    const { ports, asked } = asking(open());
    await start(ports);
    asked.splice(0);

    for (let n = 1; n <= 20; n++) {
      await insert(ports, { delayMs: 1_000 });
      await wake(ports, ports.clock.now() + 1_000, "record");
      await ports.clock.advance(1_000);
    }

    expect(asked).toEqual(Array.from({ length: 20 }, () => ["ring record", "next record"]).flat());
  });

  it("is looked at every 30 s, however often others are", async () => {
    const { ports, asked } = asking(open());
    await start(ports);
    asked.splice(0);

    for (let second = 0; second < 60; second++) {
      await wake(ports, ports.clock.now(), "record");
      await ports.clock.advance(1_000);
    }

    for (const source of alarmSources.filter((each) => each !== "record"))
      expect(asked.filter((each) => each === `next ${source}`)).toHaveLength(2);
  });

  it("is looked at on a wake that names none, as are all", async () => {
    const { ports, asked } = asking(open());
    await start(ports);
    asked.splice(0);

    await wake(ports, ports.clock.now() + 1_000, "any");
    await ports.clock.advance(1_000);

    expect(asked.slice(0, alarmSources.length)).toEqual(alarmSources.map((each) => `ring ${each}`));
  });

  it("is rung in time though the wake comes after its next alarm was read, in the same round", async () => {
    const opened = open();
    const { clock } = opened;
    const heard = await hintsOf(opened);
    let late: Promise<unknown> | undefined;
    const next: Alarms["next"] = async (...given) => {
      const found = await opened.alarms.next(...given);
      late ??= insert(opened, { delayMs: 5_000 }).then(() => wake(opened, clock.now() + 5_000));
      await late;
      return found;
    };
    const now = clock.now();

    await start(withAlarms(opened, { next }));
    await clock.advance(5_000);

    expect(heard.map(({ at }) => at)).toEqual([now + 5_000]);
  });

  it("of which more is due is looked at again at once, and no other is", async () => {
    const { ports, asked } = asking(open());
    for (let i = 0; i <= limits.ringBatchMax; i++) await insert(ports, { delayMs: 1 });
    await ports.clock.advance(1);

    await start(ports);

    const others = alarmSources.slice(1).map((source) => `next ${source}`);
    const all = alarmSources.map((source) => `ring ${source}`);
    expect(asked).toEqual([...all, ...others, "ring record", "next record"]);
  });

  it("whose kind is worked enough waits for the end of a batch, and holds up no other", async () => {
    const opened = open();
    const { clear, letGo } = heldClear(opened);
    const { ports, asked } = asking(withRecords(opened, { clear }));
    const policy = aPolicy({ callback: aCallbackPlan() });
    for (let i = 0; i < 3; i++) {
      await deliver(ports, await insert(ports, { policy }));
      await ports.clock.advance(1_000);
    }
    await start(ports);
    await ports.clock.advance(limits.ringAheadMs);
    asked.splice(0);

    await wake(ports, ports.clock.now() + 1_000, "record");
    await ports.clock.advance(1_000);
    expect(asked).toEqual(["ring record", "next record"]);
    letGo();
    await rest(ports);

    expect(asked).toContain("ring followUp");
  });

  it("of shards that are new is looked at now, without a wake", async () => {
    const opened = open();
    const heard = await hintsOf(opened);
    let own: ((shards: readonly number[]) => void) | undefined;
    const subscribe: EventBus["subscribe"] = (topic, group, handle, options) => {
      own = options?.owns;
      return opened.bus.subscribe(topic, group, handle);
    };
    const ports = { ...opened, bus: { ...opened.bus, subscribe } };
    const { id, shard } = await insert(ports, { delayMs: 1_000 });
    const scheduler = new Scheduler(ports);
    await scheduler.start();
    own?.(allShards.filter((each) => each !== shard));
    await ports.clock.advance(2_000);
    expect(heard).toEqual([]);

    own?.(allShards);
    await rest(ports);

    expect(heard.map((each) => each.id)).toEqual([id]);
  });

  it.each([-3_600_000, 3_600_000])(
    "is rung in 30 s at the latest after the clock was set by %i ms",
    async (setMs) => {
      const ports = open();
      const heard = await hintsOf(ports);
      const message = await insert(ports);
      await start(ports);
      await ports.clock.advance(10_000);

      ports.clock.set(setMs);
      await ports.clock.advance(60_000);

      expect(heard.map(({ id }) => id)).toContain(message.id);
    },
  );
});

describe("a round of the scheduler", () => {
  it("that fails is tried again soon", async () => {
    const opened = open();
    let refusals = 2;
    const ring: Alarms["ring"] = async (...args) => {
      if (refusals-- > 0) throw away;
      return opened.alarms.ring(...args);
    };
    const ports = withAlarms(opened, { ring });
    const heard = await hintsOf(ports);
    const message = await insert(ports, { delayMs: 1 });
    await ports.clock.advance(1);

    await start(ports);
    await ports.clock.advance(1_000);

    expect(heard.map(({ id }) => id)).toEqual([message.id]);
    expect(ports.log.events().filter((event) => event === "ring.failed")).toHaveLength(2);
  });

  it("that was full is followed by the next at once", async () => {
    const { ports, rounds } = counting(open());
    const heard = await hintsOf(ports);
    const count = 2 * limits.ringBatchMax + 1;
    for (let i = 0; i < count; i++) await insert(ports, { delayMs: 1 });
    await ports.clock.advance(1);
    const now = ports.clock.now();

    await start(ports);

    expect(heard).toHaveLength(count);
    expect(rounds).toEqual([now, now, now]);
  });

  it("touches no shard of another scheduler", async () => {
    const ports = open();
    const heard = await hintsOf(ports);
    const message = await insert(ports, { delayMs: 1 });
    await ports.clock.advance(1);
    const others = allShards.filter((shard) => shard !== message.shard);

    await start(ports, others);
    await ports.clock.advance(60_000);

    expect(heard).toEqual([]);
  });

  it("hints a message again whose claim has run out", async () => {
    const ports = open();
    const message = await insert(ports);
    await claim(ports, message);
    const heard = await hintsOf(ports);
    await start(ports);

    await ports.clock.advance(limits.leaseMs);

    expect(heard.map(({ id }) => id)).toEqual([message.id]);
  });

  it("works an outbox that was not worked in 30 s: the alarm brings back callbacks missed by the callback-dispatcher", async () => {
    const ports = open();
    const message = await insert(ports, { policy: aPolicy({ callback: aCallbackPlan() }) });
    await deliver(ports, message);
    const callback = { id: callbackId(message.id, 0), tenant: aTenant };
    await start(ports);

    await ports.clock.advance(limits.ringAheadMs - 1);
    expect(await stateOf(ports, callback)).toBeUndefined();
    await ports.clock.advance(1);

    expect(await stateOf(ports, callback)).toBe("due");
  });

  it("makes the messages of a group publish", async () => {
    const ports = open();
    await ports.groups.replace(aTenant, "g", undefined, someEndpoints(3), "new");
    const group = await ports.groups.get(aTenant, "g");
    const now = ports.clock.now();
    const chunks = group?.chunks ?? [];
    const fanOut = aFanOut({ id: ports.newId(), now, chunks, endpointCount: 3 });
    const heard = await hintsOf(ports);
    await start(ports);

    await ports.fanOuts.insert(fanOut, "new");
    await wake(ports, now);
    await ports.clock.advance(1);

    expect(heard.map(({ id }) => id)).toEqual([0, 1, 2].map((index) => childId(fanOut.id, index)));
    const [expanded] = await ports.fanOuts.get(aTenant, [fanOut.id]);
    expect(expanded?.state.kind).toBe("expanded");
  });
});

describe("lanes", () => {
  const wakeLane = (ports: Ports): Promise<void> =>
    ports.bus.publish("scheduler.wake", [{ shard: shardOf(lane), at: ports.clock.now(), lane }]);

  it("are granted when they are woken, without a round", async () => {
    const { ports, rounds } = counting(open());
    await start(ports);
    const message = await insert(ports, { flow });

    await wakeLane(ports);
    await rest(ports);

    expect(await stateOf(ports, message)).toBe("due");
    expect(rounds).toHaveLength(1);
  });

  it("are granted to the millisecond when their rate's window opens", async () => {
    const ports = open();
    const rated = { key: flow.key, limits: { rate: 1, periodMs: 5_000 } };
    const heard = await hintsOf(ports);
    await start(ports);
    const now = ports.clock.now();
    const messages = [await insert(ports, { flow: rated }), await insert(ports, { flow: rated })];
    await wakeLane(ports);

    await ports.clock.advance(10_000);

    expect(heard).toEqual([
      { id: messages[0]?.id, at: now },
      { id: messages[1]?.id, at: now + 5_000 },
    ]);
  });

  it("are granted in 30 s at the latest when no hint woke them", async () => {
    const ports = open();
    await start(ports);
    const message = await insert(ports, { flow });

    await ports.clock.advance(30_000);

    expect(await stateOf(ports, message)).toBe("due");
  });
});

describe("follow-ups", () => {
  it("that ring while others are being worked are worked right after them, and not 30 s later", async () => {
    const opened = open();
    const { clear, letGo } = heldClear(opened);
    const ports = withRecords(opened, { clear });
    const policy = aPolicy({ callback: aCallbackPlan() });
    const messages: Message[] = [];
    for (let i = 0; i < 4; i++) {
      const message = await insert(ports, { policy });
      messages.push(message);
      await deliver(ports, message);
      await ports.clock.advance(1_000);
    }
    await start(ports);
    await ports.clock.advance(limits.ringAheadMs);
    letGo();
    await rest(ports);

    const left = await ports.records.get(
      aTenant,
      messages.map(({ id }) => id),
    );
    expect(left.map((record) => record?.outbox.length)).toEqual([0, 0, 0, 0]);
  });
});

describe("stopping the scheduler", () => {
  it("leaves no timer and receives nothing more", async () => {
    const ports = open();
    await insert(ports, { delayMs: 1_000 });
    const scheduler = await start(ports);

    await scheduler.stop();
    await wake(ports, ports.clock.now());
    await rest(ports);

    expect(ports.clock.armed).toBe(0);
  });

  it.each(["ring", "rows", "removeFinished"] as const)(
    "waits for the `%s` that is under way, and arms nothing after it",
    async (call) => {
      const opened = open();
      const { promise: opens, resolve: letGo } = Promise.withResolvers<void>();
      let isSlow = false;
      const slowly = async <T>(answered: Promise<T>): Promise<T> => {
        const answer = await answered;
        if (isSlow) await opens;
        return answer;
      };
      const { records, flowLanes, alarms } = opened;
      const rows: FlowLanes["rows"] = (...args) => slowly(flowLanes.rows(...args));
      const removeFinished: Records["removeFinished"] = (...args) =>
        slowly(records.removeFinished(...args));
      const ring: Alarms["ring"] = (...args) => slowly(alarms.ring(...args));
      const slow: Readonly<Record<typeof call, Partial<Ports>>> = {
        rows: { flowLanes: { ...flowLanes, rows } },
        removeFinished: { records: { ...records, removeFinished } },
        ring: { alarms: { ...alarms, ring } },
      };
      const ports = { ...opened, ...slow[call] };
      await insert(ports, { delayMs: limits.sweepEveryMs });
      const scheduler = await start(ports);
      isSlow = true;
      await ports.clock.advance(limits.sweepEveryMs);
      await insert(ports, { flow });
      await ports.bus.publish("scheduler.wake", [{ shard: 0, at: ports.clock.now(), lane }]);
      await rest(ports);
      let stopped = false;

      const stopping = scheduler.stop().then(() => (stopped = true));
      await rest(ports);
      expect(stopped).toBe(false);
      letGo();
      await stopping;

      expect(ports.clock.armed).toBe(0);
    },
  );
});
