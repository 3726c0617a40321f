/** Everything that had rung before a process was killed rings when its successor opens; everything else rings at its time. */
import { expect } from "@jest/globals";
import {
  allShards,
  awaiting,
  bulkActionId,
  isActive,
  messageId,
  newBulkAction,
  queueId,
  type Run,
} from "@posthaste/domain";
import { headIfChanged } from "@posthaste/ports";
import { aFanOut } from "../builders/fan-out.ts";
import { aTenant } from "../builders/message.ts";
import { aSchedule, aScheduleCommand } from "../builders/schedule.ts";
import { type BulkActionsHarness } from "./bulk-actions.ts";
import { type Guarantee } from "./guarantee.ts";
import { enqueue, name as queueName } from "./queues/harness.ts";
import { type RecordsHarness } from "./records/harness.ts";
import { type RunsHarness, start } from "./runs/harness.ts";
import { type SchedulesHarness } from "./schedules.ts";

type Stores = RecordsHarness & RunsHarness & SchedulesHarness & BulkActionsHarness;

export type ReopeningHarness = Stores & {
  /** Opens the store again, as it is, without closing anything before. */
  readonly reopen: () => Promise<Stores>;
};

/** Returns what rings, each as its kind and its name. */
async function rung({ alarms }: Pick<Stores, "alarms">): Promise<readonly string[]> {
  const { rung: all } = await alarms.ring(allShards, 100);
  return all.map((each) => {
    switch (each.kind) {
      case "hint":
        return `hint ${each.hint.id}`;
      case "lane":
        return `lane ${each.lane}`;
      case "fanOut":
        return `fanOut ${each.id}`;
      case "outbox":
        return `outbox ${each.id}`;
      case "followUp":
        return `followUp ${each.record.message.id}`;
      case "schedule":
        return `schedule ${each.schedule.id}`;
      case "bulkAction":
        return `bulkAction ${each.action.id}`;
      case "run":
        return `run ${each.run.key}`;
    }
  });
}

const minuteMs = 60_000;
const everyMinute = aScheduleCommand("* * * * *");

async function waitUntil(harness: RunsHarness, run: Run, deadline: number): Promise<void> {
  await harness.runs.change(run, (seen) => {
    const next =
      isActive(seen) && awaiting(seen, { kind: "wait", step: 1, event: "paid", deadline });
    return headIfChanged(next);
  });
}

const addAction = ({ bulkActions, now }: BulkActionsHarness, id: string) => {
  const made = { id: bulkActionId(id), tenant: aTenant } as const;
  const work = { kind: "cancel", filter: { labels: [id] } } as const;
  const upTo = { id: messageId("msg_1"), at: now() };
  const action = newBulkAction({ ...made, work, upTo, total: 0, createdAt: now() }, now());
  return bulkActions.add(action, 10);
};

export function alarmsAfterReopening(it: Guarantee<ReopeningHarness>): void {
  it("a run whose wait has expired rings at once", async (before) => {
    const run = await start(before);
    await waitUntil(before, run, before.now() + minuteMs);
    await before.advance(minuteMs);
    expect(await rung(before)).toContain(`run ${run.key}`);

    const after = await before.reopen();

    expect(await rung(after)).toContain(`run ${run.key}`);
  });

  it("a run whose wait has not expired rings at its time", async (before) => {
    const run = await start(before);
    await waitUntil(before, run, before.now() + 10_000);
    await rung(before);

    const after = await before.reopen();

    expect(await rung(after)).not.toContain(`run ${run.key}`);
    expect(await after.alarms.next(allShards, ["run"])).toBe(before.now() + 10_000);
  });

  it("a due schedule rings at once, and an early one at its time", async (before) => {
    // The clock may begin at a full minute, and then the slot is the next one.
    const schedule = aSchedule("scd_1", everyMinute, before.now());
    await before.schedules.put(schedule, "new");
    const slot = schedule.next ?? 0;
    await before.advance(slot - before.now() - 10_000);
    const early = await before.reopen();
    expect(await rung(early)).toEqual([]);
    expect(await early.alarms.next(allShards, ["schedule"])).toBe(slot);
    await early.advance(10_000);
    expect(await rung(early)).toEqual(["schedule scd_1"]);
  });

  it("a schedule that rang before the restart and was left rings at once", async (before) => {
    await before.schedules.put(aSchedule("scd_1", everyMinute, before.now()), "new");
    await before.advance(minuteMs);
    await rung(before);

    const after = await before.reopen();

    expect(await rung(after)).toEqual(["schedule scd_1"]);
  });

  it("a queue, a fan-out and a bulk action that rang before the restart and were left ring at once", async (before) => {
    await enqueue(before, 1);
    const fanOut = aFanOut({ id: before.ids.next(), now: before.now() });
    await before.fanOuts.insert(fanOut, "new");
    await addAction(before, "bulk_1");
    const all = [`lane ${queueId(aTenant, queueName)}`, `fanOut ${fanOut.id}`, "bulkAction bulk_1"];
    expect(new Set(await rung(before))).toEqual(new Set(all));

    const after = await before.reopen();

    expect(new Set(await rung(after))).toEqual(new Set(all));
  });
}
