/** The contract of `Schedules`: of many concurrent changes of one schedule, one succeeds; a due schedule rings, in its shard. */
import { expect } from "@jest/globals";
import {
  allShards,
  fired,
  type Firing,
  firingOf,
  paused,
  replaced,
  type Schedule,
  scheduleId,
} from "@posthaste/domain";
import { type Alarms, type ScheduleKey, type Schedules } from "@posthaste/ports";
import { anotherTenant, aTenant } from "../builders/message.ts";
import { aCron, aSchedule, aScheduleCommand } from "../builders/schedule.ts";
import { bytesOfThree, fatHeaders } from "./paging.ts";
import { type Closable, contract, type Guarantee } from "./guarantee.ts";

export type SchedulesHarness = Closable & {
  readonly schedules: Schedules;
  readonly alarms: Alarms;
  readonly now: () => number;
  readonly advance: (ms: number) => Promise<void>;
};

export function describeSchedules(name: string, open: () => Promise<SchedulesHarness>): void {
  contract(`${name}: schedules`, open, {}, (it) => {
    keeping(it);
    changing(it);
    firing(it);
    ringing(it);
  });
}

const everyTen = aCron("*/10 * * * *");

function keeping(it: Guarantee<SchedulesHarness>): void {
  it("a schedule that was never made is not found, and its removal changes nothing", async ({
    schedules,
  }) => {
    const key = aSchedule("scd_none");
    await schedules.remove(key);

    expect(await schedules.get([key])).toEqual([undefined]);
    expect(await schedules.list(aTenant, { limit: 10 })).toEqual([]);
    expect(await schedules.count(aTenant)).toBe(0);
  });

  it("a schedule is read as it was made, its body included", async ({ schedules, now }) => {
    const made = aSchedule("scd_1", bytes(new Uint8Array([0, 255, 128, 10])), now());
    const bare = aSchedule("scd_2", bytes(new Uint8Array()), now());

    expect(await schedules.put(made, "new")).toBe(true);
    expect(await schedules.put(bare, "new")).toBe(true);
    expect(await schedules.get([bare, aSchedule("scd_none"), made])).toEqual([
      bare,
      undefined,
      made,
    ]);
  });

  it("schedules belong to their tenant, whatever their names", async ({ schedules, now }) => {
    const mine = aSchedule("scd_1", aScheduleCommand(), now());
    const theirs = aSchedule(
      "scd_1",
      aScheduleCommand("0 * * * *", { tenant: anotherTenant }),
      now(),
    );
    await schedules.put(mine, "new");
    await schedules.put(theirs, "new");
    await schedules.remove(mine);

    expect(await schedules.get([mine, theirs])).toEqual([undefined, theirs]);
    expect(await schedules.list(aTenant, { limit: 10 })).toEqual([]);
    expect(await schedules.count(anotherTenant)).toBe(1);
  });

  it("schedules are listed oldest first, page by page, each once and without its body", async ({
    schedules,
    now,
  }) => {
    const at = now();
    const made = [3, 1, 2, 0, 4].map((n) =>
      aSchedule(`scd_${n}`, aScheduleCommand(), at + Math.floor(n / 2)),
    );
    for (const each of made) await schedules.put(each, "new");
    const listed: Schedule[] = [];
    for (let page = await schedules.list(aTenant, { limit: 2 }); page.length > 0;) {
      listed.push(...page);
      const last = page.at(-1);
      page = last ? await schedules.list(aTenant, { after: last, limit: 2 }) : [];
    }

    expect(listed).toEqual(
      made.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map(({ body: _, ...schedule }) => schedule),
    );
  });

  it("a page of schedules ends with the schedule that fills its bytes, and the next page follows it", async ({
    schedules,
    now,
  }) => {
    const { template, ...command } = aScheduleCommand();
    const fat = { ...command, template: { ...template, headers: fatHeaders } };
    for (let n = 0; n < 7; n++) await schedules.put(aSchedule(`scd_${n}`, fat, now() + n), "new");
    const bytesMax = bytesOfThree;
    const lengths: number[] = [];
    const ids: string[] = [];
    let page = await schedules.list(aTenant, { limit: 100, bytesMax });
    while (page.length > 0) {
      lengths.push(page.length);
      ids.push(...page.map(({ id }) => id));
      const last = page.at(-1);
      page = last ? await schedules.list(aTenant, { after: last, limit: 100, bytesMax }) : [];
    }

    expect(lengths).toEqual([3, 3, 1]);
    expect(ids).toEqual([0, 1, 2, 3, 4, 5, 6].map((n) => `scd_${n}`));
  });

  it("a list continues behind a schedule that was removed since, and a list from a time has all of that time", async ({
    schedules,
    now,
  }) => {
    const at = now();
    const made = [0, 1, 2, 3].map((n) =>
      aSchedule(`scd_${n}`, aScheduleCommand(), at + Math.floor(n / 2)),
    );
    for (const each of made) await schedules.put(each, "new");
    const [, second] = await schedules.list(aTenant, { limit: 2 });
    if (second) await schedules.remove(second);
    const behind = await schedules.list(aTenant, { ...(second && { after: second }), limit: 5 });
    const from = await schedules.list(aTenant, {
      after: { createdAt: at + 1, id: scheduleId("") },
      limit: 5,
    });

    expect(behind.map(({ id }) => id)).toEqual(["scd_2", "scd_3"]);
    expect(from).toEqual(behind);
  });
}

function changing(it: Guarantee<SchedulesHarness>): void {
  it("of many inserts of one schedule at once one succeeds, and the schedule is counted once", async ({
    schedules,
    now,
  }) => {
    const made = await Promise.all(
      Array.from({ length: 10 }, () =>
        schedules.put(aSchedule("scd_1", aScheduleCommand(), now()), "new"),
      ),
    );

    expect(made.filter(Boolean)).toHaveLength(1);
    expect(await schedules.count(aTenant)).toBe(1);
  });

  it("of many changes of one schedule at once one succeeds", async ({ schedules, now }) => {
    const made = await put(schedules, now());
    const changes = Array.from({ length: 10 }, (_, n) => ({
      ...paused(made, now()),
      updatedAt: now() + n,
    }));
    const written = await Promise.all(changes.map((change) => schedules.put(change, "new")));

    expect(written.filter(Boolean)).toHaveLength(1);
    expect(await read(schedules, made)).toMatchObject({ version: 2, body: made.body });
    expect((await read(schedules, made)).updatedAt).toBe(changes[written.indexOf(true)]?.updatedAt);
  });

  it("a replacement leaves nothing of the old schedule, except the fields that stay", async ({
    schedules,
    now,
  }) => {
    const made = await put(schedules, now());
    const resting = paused(made, now());
    await schedules.put(resting, "new");
    const next = replaced(
      resting,
      aScheduleCommand("0 0 29 2 */7", { body: new Uint8Array() }),
      now(),
    );
    await schedules.put(next, "new");

    expect(await read(schedules, made)).toEqual(next);
  });

  it("a schedule that was removed may be made again, and writes to the old one do not fit it", async ({
    schedules,
    now,
  }) => {
    const old = await put(schedules, now());
    await schedules.put(paused(old, now()), "new");
    await schedules.remove(old);

    expect(await schedules.move([paused(paused(old, now()), now())])).toEqual([false]);
    expect(await schedules.count(aTenant)).toBe(0);
    expect(await schedules.put(old, "new")).toBe(true);
    expect(await schedules.count(aTenant)).toBe(1);
  });
}

function firing(it: Guarantee<SchedulesHarness>): void {
  it("of three that fire one slot at once one begins it", async ({ schedules, now }) => {
    const made = await put(schedules, now());
    const slot = made.next ?? 0;
    const intents = await Promise.all([1, 2, 3].map(() => schedules.move([begun(made, slot)])));

    expect(intents.flat().filter(Boolean)).toHaveLength(1);
    expect(await read(schedules, made)).toMatchObject({ pending: slot, next: slot + 600_000 });
  });

  it("each of many schedules begun in one call has its own result", async ({ schedules, now }) => {
    const made = await Promise.all(
      ["scd_1", "scd_2", "scd_3"].map((id) => put(schedules, now(), id)),
    );
    await schedules.put(paused(made[1] ?? aSchedule(), now()), "new");
    const gone = aSchedule("scd_none", aScheduleCommand(), now());
    const moved = [...made, gone].map((each) => begun(each, each.next ?? 0));

    expect(await schedules.move(moved)).toEqual([true, false, true, false]);
    expect((await schedules.get(made)).map((each) => each?.pending)).toEqual([
      made[0]?.next,
      undefined,
      made[2]?.next,
    ]);
  });

  it("a slot that was begun can be ended once, and then nothing is pending", async ({
    schedules,
    now,
  }) => {
    const made = await put(schedules, now());
    const slot = made.next ?? 0;
    const intent = begun(made, slot);
    await schedules.move([intent]);
    const done = fired(intent, { slot, messages: [], error: "topic g not found" }, slot) ?? made;
    const first = await schedules.move([done]);
    const second = await schedules.move([done]);

    expect([first, second]).toEqual([[true], [false]]);
    const { body: _, ...stored } = await read(schedules, made);
    expect(stored).toEqual(done);
  });

  it("a schedule that is paused or replaced while it fires differs from the one that was read", async ({
    schedules,
    now,
  }) => {
    const made = await put(schedules, now());
    const slot = made.next ?? 0;
    const intent = begun(made, slot);
    await schedules.move([intent]);
    await schedules.put(paused(intent, now()), "new");
    const done = fired(intent, { slot, messages: [] }, slot) ?? made;

    expect(await schedules.move([done])).toEqual([false]);
    expect(await read(schedules, made)).toMatchObject({ isPaused: true, pending: slot });
  });
}

function ringing(it: Guarantee<SchedulesHarness>): void {
  it("a schedule rings when its alarm is due, not before, and then again half a minute later", async (harness) => {
    const { schedules, now, advance } = harness;
    const made = await put(schedules, now(), "scd_1", now() + 5_000);
    const early = await ring(harness);
    await advance(5_000);
    const due = await ring(harness);
    const again = await ring(harness);

    expect(early).toEqual([]);
    expect(due).toMatchObject([{ id: made.id, version: made.version, next: made.next }]);
    expect(due[0]).not.toHaveProperty("body");
    expect(again).toEqual([]);
    expect(await harness.alarms.next(allShards)).toBeGreaterThan(now());
    expect((await read(schedules, made)).version).toBe(made.version);
  });

  it("a schedule rings in its own shard alone, the earliest first and no more than the limit", async (harness) => {
    const { schedules, alarms, now, advance } = harness;
    const made = await Promise.all(
      [3, 1, 2].map((n) => put(schedules, now(), `scd_${n}`, now() + n)),
    );
    await advance(10);
    const elsewhere = allShards.filter((shard) => !made.some((each) => each.shard === shard));
    const first = await alarms.ring(elsewhere, 10);
    const some = await alarms.ring(allShards, 2);

    expect(first.rung).toEqual([]);
    expect(await alarms.next(elsewhere)).toBeUndefined();
    expect([...some.more]).toEqual(["schedule"]);
    expect(idsOf(some)).toEqual(["scd_1", "scd_2"]);
    expect(idsOf(await alarms.ring(allShards, 2))).toEqual(["scd_3"]);
  });

  it("a paused or removed schedule has no alarm", async (harness) => {
    const { schedules, alarms, now, advance } = harness;
    const one = await put(schedules, now(), "scd_1", now() + 5);
    const other = await put(schedules, now(), "scd_2", now() + 5);
    await schedules.put(paused(one, now()), "new");
    await schedules.remove(other);
    await advance(10);

    expect(await ring(harness)).toEqual([]);
    expect(await alarms.next(allShards)).toBeUndefined();
  });

  it("a schedule above this build's format is left alone", async (harness) => {
    const { schedules, now, advance } = harness;
    const made = aSchedule("scd_1", aScheduleCommand(), now());
    await schedules.put({ ...made, format: 99, wakeAt: now() + 5 }, "new");
    await advance(10);

    expect(await ring(harness)).toEqual([]);
    expect(await harness.alarms.next(allShards)).toBeUndefined();
  });
}

const bytes = (body: Uint8Array) => aScheduleCommand(undefined, { body });

async function put(schedules: Schedules, now: number, id = "scd_1", wakeAt?: number) {
  const made = aSchedule(id, aScheduleCommand(), now);
  const schedule = wakeAt === undefined ? made : { ...made, wakeAt };
  expect(await schedules.put(schedule, "new")).toBe(true);
  return schedule;
}

async function read(schedules: Schedules, key: ScheduleKey) {
  const [schedule] = await schedules.get([key]);
  if (!schedule) throw new Error(`the schedule ${key.id} is not there`);
  return schedule;
}

/** Returns the schedule as a ring at the slot would write it. */
function begun({ body: _, ...schedule }: Schedule & { body?: Uint8Array }, slot: number): Schedule {
  const firing: Firing = firingOf(schedule, everyTen, slot, 0);
  if (firing.kind !== "advance") throw new Error("it is under way");
  return firing.schedule;
}

type Rings = Awaited<ReturnType<Alarms["ring"]>>;
const schedulesIn = ({ rung }: Rings): readonly Schedule[] =>
  rung.flatMap((each) => (each.kind === "schedule" ? each.schedule : []));
const idsOf = (rings: Rings): readonly string[] =>
  schedulesIn(rings)
    .map(({ id }) => id)
    .toSorted();

const ring = async ({ alarms }: SchedulesHarness): Promise<readonly Schedule[]> =>
  schedulesIn(await alarms.ring(allShards, 10));
