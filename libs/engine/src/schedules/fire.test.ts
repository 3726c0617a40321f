import { describe, expect, it } from "@jest/globals";
import { isFault, limits, type Schedule, scheduleId } from "@posthaste/domain";
import { aScheduleCommand, aTenant, someEndpoints } from "@posthaste/testing";
import { defaultPlan } from "@posthaste/domain";
import {
  noTelemetry,
  noTracer,
  type Schedules,
  type Telemetry,
  type Tracer,
} from "@posthaste/ports";
import { listen, open, type Ports } from "../opened.fixture.ts";
import { allShards } from "@posthaste/domain";
import { pauseSchedule, putSchedule } from "./change.ts";
import { fireSchedules } from "./fire.ts";

const minuteMs = 60_000;
const key = { tenant: aTenant, id: scheduleId("scd_1") };

/** Makes a schedule that fires every ten minutes, with the changes of the test. */
async function made(
  ports: Ports,
  ...given: Parameters<typeof aScheduleCommand>
): Promise<Schedule> {
  const put = await putSchedule(
    changing(ports),
    { command: aScheduleCommand(...given), id: key.id },
    defaultPlan,
  );
  if (isFault(put)) throw new Error(put.text);
  return read(ports);
}

const changing = (ports: Ports) => ({
  ...ports,
  random: { text: (n: number) => "u".repeat(n), fraction: () => 0 },
});

async function read({ schedules }: Pick<Ports, "schedules">): Promise<Schedule> {
  const [schedule] = await schedules.get([key]);
  if (!schedule) throw new Error("the schedule is gone");
  return schedule;
}

/** Rings like a scheduler whose round begins now. */
async function ring(
  ports: Ports & { readonly slotLateMsMax?: number; readonly telemetry?: Telemetry },
): Promise<void> {
  const { rung } = await ports.alarms.ring(allShards, 100);
  await fireSchedules(
    ports,
    rung.flatMap((each) => (each.kind === "schedule" ? each.schedule : [])),
  );
}

const messagesOf = async (ports: Ports) => {
  const { items } = await ports.messageLog.list(
    aTenant,
    { states: ["CREATED"] },
    { limit: 100, order: "earliestFirst" },
  );
  return items.map(({ message }) => message);
};

describe("a schedule that is due", () => {
  it("makes its message, announced and delayed from the slot on, and names it", async () => {
    const ports = open();
    const heard = await listen(ports);
    const template = { ...aScheduleCommand().template, delayMs: 5_000 };
    const { next = 0, shard } = await made(ports, undefined, { template });
    await ports.clock.advance(next - ports.clock.now() + 20);
    await ring(ports);
    const [message] = await messagesOf(ports);

    expect(heard.wakes).toContainEqual({ shard, at: next, source: "schedule" });
    expect(message).toMatchObject({
      notBefore: next + 5_000,
      createdAt: next + 20,
      origin: { scheduleId: "scd_1", callerIp: template.callerIp },
      url: "https://destination.example/hook",
    });
    expect(message?.id).toMatch(/^msg_[0-9A-Za-z]{26}_s$/);
    expect(heard.wakes).toContainEqual({
      shard: message?.shard,
      at: next + 5_000,
      source: "record",
    });
    expect(await read(ports)).toMatchObject({
      last: { slot: next, messages: [message?.id] },
      next: next + 10 * minuteMs,
      wakeAt: next + 10 * minuteMs,
    });
  });

  it("fires once, however many schedulers ring it at once", async () => {
    const ports = open();
    const { next = 0, ...schedule } = await made(ports);
    await ports.clock.advance(next - ports.clock.now());
    await Promise.all([1, 2, 3].map(() => fireSchedules(ports, [{ ...schedule, next }])));

    expect(await messagesOf(ports)).toHaveLength(1);
  });

  it("makes up each slot of the last five minutes at once", async () => {
    const ports = open();
    const { createdAt } = await made(ports, "* * * * *");
    await ports.clock.advance(20 * minuteMs);
    await ring(ports);

    expect(await messagesOf(ports)).toHaveLength(6);
    expect(await read(ports)).toMatchObject({ next: createdAt + 21 * minuteMs });
    expect(ports.log.lines).toContainEqual(
      expect.objectContaining({
        event: "schedule.skipped",
        fields: { tenant: aTenant, schedule: "scd_1", skipped: 14 },
      }),
    );
  });

  it.each([
    [30, 0],
    [60, 1],
  ])(
    "that is late by 50 minutes, where %i are allowed, makes %i messages",
    async (minutes, count) => {
      const ports = open();
      await made(ports, "0 * * * *");
      await ports.clock.advance(110 * minuteMs);
      await ring({ ...ports, slotLateMsMax: minutes * minuteMs });

      expect(await messagesOf(ports)).toHaveLength(count);
    },
  );

  it.each(["before the message", "after the message"])(
    "that was left %s is made again half a minute later, under the same id",
    async (when) => {
      const ports = open();
      const { next = 0 } = await made(ports);
      await ports.clock.advance(next - ports.clock.now());
      await ring(killed(ports, when)).catch(() => undefined);
      const between = (await messagesOf(ports)).map(({ id }) => id);
      await ports.clock.advance(limits.ringAheadMs);
      await ring(ports);
      const ids = (await messagesOf(ports)).map(({ id }) => id);

      expect(between).toHaveLength(when === "after the message" ? 1 : 0);
      expect(ids).toHaveLength(1);
      expect(ids).toEqual(expect.arrayContaining(between));
      expect(await read(ports)).toMatchObject({ last: { slot: next, messages: ids } });
    },
  );

  it("fires at a process whose clock is behind the store's, and is not written again and again", async () => {
    const ports = open();
    const { next = 0 } = await made(ports);
    await ports.clock.advance(next - ports.clock.now());
    const clock = { ...ports.clock, now: () => ports.clock.now() - 10 * minuteMs };
    await ring({ ...ports, clock });

    expect(await messagesOf(ports)).toHaveLength(1);
    expect(await read(ports)).toMatchObject({ next: next + 10 * minuteMs, version: 3 });
  });

  it("that was paused since it was read makes nothing", async () => {
    const ports = open();
    const schedule = await made(ports);
    await ports.clock.advance((schedule.next ?? 0) - ports.clock.now());
    await pauseSchedule(changing(ports), key);
    await fireSchedules(ports, [schedule]);

    expect(await messagesOf(ports)).toEqual([]);
    expect(await read(ports)).toMatchObject({ isPaused: true, version: 2 });
  });

  it("that is paused while it fires ends its slot", async () => {
    const ports = open();
    const { next = 0 } = await made(ports);
    await ports.clock.advance(next - ports.clock.now());
    await ring({
      ...ports,
      records: {
        ...ports.records,
        insert: async (inserts, intake) => {
          await pauseSchedule(changing(ports), key);
          return ports.records.insert(inserts, intake);
        },
      },
    });

    expect(await read(ports)).toMatchObject({ isPaused: true, last: { slot: next } });
    expect(await read(ports)).not.toHaveProperty("pending");
    expect(await ports.alarms.next(allShards, ["schedule"])).toBeUndefined();
  });

  it("begins a trace for each slot that is sampled, of which its messages are part", async () => {
    const ports = open();
    const { next = 0 } = await made(ports);
    await ports.clock.advance(next - ports.clock.now());
    const spans: string[] = [];
    const tracer: Tracer = {
      ...noTracer,
      isOn: true,
      start: (name, { attributes }) => ({
        traceParent: "a trace",
        end: () => void spans.push(`${name} of ${attributes?.["posthaste.schedule.id"]}`),
      }),
    };

    await ring({ ...ports, telemetry: { ...noTelemetry, tracer } });

    const { id, last } = await read(ports);
    expect(spans).toEqual([`schedule of ${id}`]);
    expect(await messagesOf(ports)).toMatchObject([{ id: last?.messages[0], trace: "a trace" }]);
  });

  it("of a group makes a message for each endpoint, and remembers the first hundred", async () => {
    const ports = open();
    await ports.groups.replace(aTenant, "g", undefined, someEndpoints(120), "new");
    const { next = 0 } = await made(ports, undefined, {
      template: { ...aScheduleCommand().template, destination: { kind: "group", name: "g" } },
    });
    await ports.clock.advance(next - ports.clock.now());
    await ring(ports);
    const { last } = await read(ports);

    expect(last?.messages).toHaveLength(100);
    expect(last?.messages[1]).toMatch(/^msg_[0-9A-Za-z]{26}_s_n1$/);
  });

  it("of a group and a queue makes the queue within the plan, and no queue if the group is missing", async () => {
    const ports = open();
    await ports.groups.replace(aTenant, "g", undefined, someEndpoints(2), "new");
    const destination = { kind: "group", name: "g" } as const;
    const template = { ...aScheduleCommand().template, destination, queue: "q" };
    const { next = 0 } = await made(ports, undefined, { template });
    const { closedAt: _, ...tenant } = aTenantThatIsClosed;
    const none = { ...tenant, plan: { ...defaultPlan, queuesMax: 0 } };
    const fire = async (plan: typeof tenant) => {
      const { next: slot = 0 } = await read(ports);
      await ports.clock.advance(slot - ports.clock.now());
      await ring({ ...ports, tenants: new Map([[aTenant, plan]]) });
      return (await read(ports)).last;
    };

    expect(await fire(none)).toMatchObject({
      messages: [],
      error: "quota maxQueues exceeded, current limit: 0",
    });
    expect(await ports.queues.list(aTenant, { after: "", limit: 10 })).toEqual([]);
    expect((await fire(tenant))?.messages).toHaveLength(2);
    expect(await ports.queues.list(aTenant, { after: "", limit: 10 })).toMatchObject([
      { name: "q" },
    ]);
    await ports.queues.end(aTenant, "q");
    await ports.groups.remove(aTenant, "g");
    expect(await fire(tenant)).toMatchObject({ error: "topic g not found" });
    expect(await ports.queues.list(aTenant, { after: "", limit: 10 })).toEqual([]);
    expect(next).toBeLessThan(ports.clock.now());
  });

  it("of a missing group records the fault, and continues", async () => {
    const ports = open();
    const { next = 0 } = await made(ports, undefined, {
      template: { ...aScheduleCommand().template, destination: { kind: "group", name: "g" } },
    });
    await ports.clock.advance(next - ports.clock.now());
    await ring(ports);

    expect(await read(ports)).toMatchObject({
      last: { slot: next, messages: [], error: "topic g not found" },
      next: next + 10 * minuteMs,
    });
  });

  it("of a tenant with too many unfinished messages records the fault; of a closed tenant it does not ring", async () => {
    const ports = open();
    const { next = 0 } = await made(ports);
    await ports.clock.advance(next - ports.clock.now());
    const { closedAt: _, ...tenant } = aTenantThatIsClosed;
    const plan = { ...defaultPlan, backlogMax: 0 };
    await ring({ ...ports, tenants: new Map([[aTenant, { ...tenant, plan }]]) });
    const full = await read(ports);
    await ports.clock.advance(10 * minuteMs);
    await ring({ ...ports, tenants: new Map([[aTenant, aTenantThatIsClosed]]) });

    expect(full.last?.error).toBe("quota maxBacklog exceeded, current limit: 0");
    expect(await messagesOf(ports)).toEqual([]);
    expect(await ports.alarms.next(allShards, ["schedule"])).toBeUndefined();
  });

  it("of a tenant that was closed while a slot was under way rings once more, and then never", async () => {
    const ports = open();
    const { next = 0 } = await made(ports);
    await ports.clock.advance(next - ports.clock.now());
    await ring(killed(ports, "before the message")).catch(() => undefined);
    const closed = new Map([[aTenant, aTenantThatIsClosed]]);
    await ports.clock.advance(limits.ringAheadMs);
    await ring({ ...ports, tenants: closed });

    expect(await ports.alarms.next(allShards, ["schedule"])).toBeUndefined();
    expect(await messagesOf(ports)).toEqual([]);
  });

  it("whose zone this build does not know ends the slot that is under way, and then rests", async () => {
    const ports = open();
    const { next = 0 } = await made(ports);
    await ports.clock.advance(next - ports.clock.now());
    await ring(killed(ports, "before the message")).catch(() => undefined);
    const [left] = await ports.schedules.get([key]);
    if (!left) throw new Error("there is a schedule");
    const cron = "CRON_TZ=Mars/Olympus * * * * *";
    await ports.schedules.move([{ ...left, cron, version: left.version + 1 }]);

    await ports.clock.advance(limits.ringAheadMs);
    await ring(ports);
    expect(await messagesOf(ports)).toHaveLength(1);
    await ports.clock.advance(20 * minuteMs);
    await ring(ports);

    expect(await messagesOf(ports)).toHaveLength(1);
    expect(await ports.alarms.next(allShards, ["schedule"])).toBeUndefined();
  });
});

const aTenantThatIsClosed = {
  id: aTenant,
  dialect: "service",
  plan: defaultPlan,
  keys: { current: "", next: "" },
  closedAt: 1,
} as const;

/** Returns ports of a process that dies right after the first or the second write. */
function killed(ports: Ports, when: string): Ports {
  const die = async (): Promise<never> => {
    throw new Error("killed");
  };
  const moves: Schedules["move"] = async (schedules) =>
    schedules.some(({ pending }) => pending === undefined)
      ? die()
      : ports.schedules.move(schedules);
  return when === "before the message"
    ? { ...ports, records: { ...ports.records, insert: die } }
    : { ...ports, schedules: { ...ports.schedules, move: moves } };
}
