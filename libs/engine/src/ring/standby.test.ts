import { afterEach, describe, expect, it } from "@jest/globals";
import { alarmSources, flowLaneId, limits } from "@posthaste/domain";
import { type Alarms, type EventBus, type Hint } from "@posthaste/ports";
import { aTenant } from "@posthaste/testing";
import { insert, open, type Ports, read, rest } from "../opened.fixture.ts";
import { Standby } from "./standby.ts";

const tight = { key: "tight", limits: { parallelism: 1, periodMs: 1_000 } };

const running: Standby[] = [];
afterEach(async () => {
  for (const standby of running.splice(0)) await standby.stop();
});

async function standBy(ports: Ports, bus: Partial<EventBus>): Promise<readonly Hint[]> {
  const heard: Hint[] = [];
  const standby = new Standby(
    { ...ports, tenants: new Map(), bus: { ...ports.bus, ...bus } },
    (hints) => heard.push(...hints),
  );
  running.push(standby);
  await standby.start();
  return heard;
}

const withAlarms = (ports: Ports, alarms: Partial<Alarms>): Ports => ({
  ...ports,
  alarms: { ...ports.alarms, ...alarms },
});

const down: Partial<EventBus> = { isUp: () => false };
const deaf: Partial<EventBus> = { hears: () => false };

describe("standing by", () => {
  it.each([
    ["the bus is away", down],
    ["this process hears nothing from it", deaf],
  ])("rings what is due within a second or two while %s", async (_, bus) => {
    const ports = open();
    const { id } = await insert(ports, { delayMs: 3_000 });
    const heard = await standBy(ports, bus);

    await ports.clock.advance(2_900);
    expect(heard).toEqual([]);
    await ports.clock.advance(1_500);

    expect(heard).toMatchObject([{ id }]);
  });

  it("grants lanes, too", async () => {
    const ports = open();
    const message = await insert(ports, { flow: tight });
    const heard = await standBy(ports, down);

    await ports.clock.advance(2_000);

    expect(heard).toMatchObject([{ id: message.id }]);
    expect(await read(ports, message)).toMatchObject({ state: { kind: "due" } });
    expect(await ports.tokens.peek(flowLaneId(aTenant, tight.key))).toMatchObject({ slots: 1 });
  });

  it("rings nothing while the bus is well and alarms are rung in time", async () => {
    const ports = open();
    const { clock } = ports;
    let rounds = 0;
    const next = async (): Promise<number> => clock.now() - 4_000;
    const ring: Ports["alarms"]["ring"] = async (...args) => {
      rounds += 1;
      return ports.alarms.ring(...args);
    };
    await standBy(withAlarms(ports, { next, ring }), {});

    await clock.advance(60_000);

    expect(rounds).toBe(0);
  });

  it("rings alarms that are long overdue, though the bus is well: no scheduler runs", async () => {
    const ports = open();
    const { id } = await insert(ports);
    const heard = await standBy(ports, {});

    await ports.clock.advance(limits.ringAheadMs + 20_000);

    expect(heard[0]).toMatchObject({ id });
  });

  it("leaves facts to their alarms while the bus is away", async () => {
    const ports = open();
    const rung: unknown[] = [];
    const ring: Ports["alarms"]["ring"] = async (shards, limit, sources) => {
      rung.push(sources);
      return ports.alarms.ring(shards, limit, sources);
    };
    await standBy(withAlarms(ports, { ring }), down);

    await ports.clock.advance(1_000);

    expect(rung).toEqual([alarmSources.filter((source) => source !== "fact")]);
  });

  it("goes on after the store was away", async () => {
    const ports = open();
    const { id } = await insert(ports, { delayMs: 1 });
    let away = true;
    const ring: Ports["alarms"]["ring"] = (...args) =>
      away ? Promise.reject(new Error("away")) : ports.alarms.ring(...args);
    const heard = await standBy(withAlarms(ports, { ring }), down);

    await ports.clock.advance(5_000);
    expect(heard).toEqual([]);
    away = false;
    await ports.clock.advance(2_000);

    expect(heard).toMatchObject([{ id }]);
  });

  it("leaves no timer when it has stopped", async () => {
    const ports = open();
    await standBy(ports, down);
    await rest(ports);

    await running.pop()?.stop();

    expect(ports.clock.armed).toBe(0);
  });
});
