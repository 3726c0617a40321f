import { describe, expect, it } from "@jest/globals";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
  accept,
  acceptClaimed,
  allShards,
  type DeduplicationKey,
  deduplicationKeys,
  bulkActionId,
  limits,
  messageId,
  type MessageId,
  newBulkAction,
  ownFormat,
  positionOf,
  queueId,
  runId,
} from "@posthaste/domain";
import {
  aCommand,
  aFanOut,
  aMessage,
  anOwner,
  aRunStart,
  aSchedule,
  aScheduleCommand,
  aTenant,
  byKind,
  virtualClock,
} from "@posthaste/testing";
import { copyOf, newDirectory, openIn } from "./opened.fixture.ts";

function aKey(): DeduplicationKey {
  const [key] = deduplicationKeys(
    aCommand({ deduplication: { kind: "explicit", id: "order-1" } }),
    [],
    String,
  );
  if (key === undefined) throw new Error("a publish with an explicit id has a key");
  return key;
}

describe("after a process was killed", () => {
  it("counts that were not written are counted again", async () => {
    const opened = openIn(newDirectory());
    const { clock, records, messageLog } = opened;
    const insert = (count: number) =>
      records.insert(
        Array.from({ length: count }, () => ({
          record: accept(aMessage({ now: clock.now() }), clock.now()),
        })),
        "new",
      );
    await insert(3);
    await clock.advance(61_000);
    await insert(2);
    await messageLog.counts(aTenant, 0, clock.now());
    await insert(4);

    const after = openIn(copyOf(opened), { clock });

    const minutes = await after.messageLog.counts(aTenant, 0, clock.now());
    expect(minutes.map(({ counts }) => counts)).toEqual([{ CREATED: 3 }, { CREATED: 6 }]);
  });

  it("acknowledged messages exist", async () => {
    const dataDir = newDirectory();
    const url = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href);
    const script = `
      import { accept } from "@posthaste/domain";
      import { aMessage, seededRandom, recordingLog, virtualClock } from "@posthaste/testing";
      import { openEmbedded } from ${url("./index.ts")};
      const clock = virtualClock();
      const { records, ids } = openEmbedded({
        dataDir: ${JSON.stringify(dataDir)}, clock, random: seededRandom(7), log: recordingLog(), reserveBytes: 0,
      });
      const publishForEver = async () => {
        for (;;) {
          const record = accept(aMessage({ id: ids.next() }), clock.now());
          await records.insert([{ record }]);
          process.stdout.write(record.message.id + "\\n");
        }
      };
      for (let n = 0; n < 32; n++) publishForEver();`;
    const child = spawn(process.execPath, ["--input-type=module-typescript", "--eval", script], {
      cwd: new URL("..", import.meta.url),
      stdio: ["ignore", "pipe", "inherit"],
    });
    const said: string[] = [];
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      said.push(text);
      if (said.join("").length > 20_000) child.kill("SIGKILL");
    });
    await once(child, "close");
    const lines = said.join("").split("\n").slice(0, -1);

    const { records } = openIn(dataDir);
    const found = await records.get(aTenant, lines.map(messageId));

    expect(lines.length).toBeGreaterThan(100);
    expect(found.filter((record) => record === undefined)).toEqual([]);
  });

  it("its claimed messages can be claimed at once, have lost a lease, and the old claims are fenced", async () => {
    const first = openIn(newDirectory());
    const record = acceptClaimed(aMessage(), anOwner, first.clock.now());
    await first.records.insert([{ record }], "new");

    const second = openIn(copyOf(first), { clock: first.clock });
    const { hints } = byKind(await second.alarms.ring(allShards, 10));
    const claimed = await second.records.claim([record.message.id], anOwner);

    expect(second.recovered).toMatchObject({ claims: 1, live: 1 });
    expect(hints.map(({ id }) => id)).toEqual([record.message.id]);
    expect(claimed).toMatchObject([{ leaseLosses: limits.leaseLossParts, epoch: 2 }]);
    expect(await second.records.renew([{ id: record.message.id, epoch: 1 }])).toEqual([
      record.message.id,
    ]);
  });

  it("however many messages there are, each is released or counted once", async () => {
    const first = openIn(newDirectory());
    const { clock, ids, records } = first;
    const count = 10_002;
    const made = Array.from({ length: count }, () =>
      aMessage({ id: ids.next(), now: clock.now() }),
    );
    const isClaimed = (index: number): boolean => index % 5_000 < 2;
    await records.insert(
      made.map((message, index) => ({
        record: isClaimed(index)
          ? acceptClaimed(message, anOwner, clock.now())
          : accept(message, clock.now()),
      })),
      "new",
    );

    const second = openIn(copyOf(first), { clock });
    const claimed = made.filter((_, index) => isClaimed(index)).map(({ id }) => id);

    expect(second.recovered).toEqual({ claims: claimed.length, live: count, finished: 0 });
    expect(await second.records.claim(claimed, anOwner)).toHaveLength(claimed.length);
  });

  it("a schedule that rang and was left rings at once, and one whose slot is far away in its time", async () => {
    const first = openIn(newDirectory());
    const { clock } = first;
    const everyMinute = aSchedule("scd_1", aScheduleCommand("* * * * *"), clock.now());
    await first.schedules.put(everyMinute, "new");
    await first.schedules.put(
      aSchedule("scd_2", aScheduleCommand("0 0 1 1 *"), clock.now()),
      "new",
    );
    await clock.advance(60_000);
    const before = await first.alarms.ring(allShards, 10);

    const second = openIn(copyOf(first), { clock });
    const after = await second.alarms.ring(allShards, 10);

    for (const { rung } of [before, after])
      expect(rung).toMatchObject([{ kind: "schedule", schedule: { id: "scd_1" } }]);
  });

  it("the alarm of a record that a newer build has written is unchanged", async () => {
    const first = openIn(newDirectory());
    const { clock, dataDir, ids } = first;
    const format = ownFormat + 1;
    const flow = { key: "tight", limits: { parallelism: 1, periodMs: 1_000 } };
    const queue = queueId(aTenant, "orders");
    for (const overrides of [{}, { flow }, { queue }, { delayMs: 3_600_000 }])
      await first.records.insert(
        [{ record: accept(aMessage({ id: ids.next(), format, ...overrides }), clock.now()) }],
        "new",
      );
    await first.fanOuts.insert({ ...aFanOut({ id: ids.next(), now: clock.now() }), format }, "new");
    const schedule = aSchedule("scd_1", aScheduleCommand("* * * * *"), clock.now());
    await first.schedules.put({ ...schedule, format }, "new");
    const upTo = { id: messageId("msg_1"), at: clock.now() };
    const work = { kind: "cancel", filter: {} } as const;
    const made = {
      id: bulkActionId("bulk_1"),
      tenant: aTenant,
      work,
      upTo,
      total: 0,
      createdAt: 0,
    };
    await first.bulkActions.add({ ...newBulkAction(made, clock.now()), format }, 10);
    await first.runs.start(aTenant, runId("run"), "new", (use) => {
      const write = aRunStart(use, { id: runId("run"), root: ids.next(), now: clock.now() });
      const wait = { kind: "wait", step: 1, event: "paid", deadline: clock.now() } as const;
      const state = { kind: "active", pending: [wait], notes: [] } as const;
      return { ...write, run: { ...write.run, format, state }, deliveries: [] };
    });
    setAlarms(dataDir, clock.now() + limits.ringAheadMs);
    await first.close();
    const before = alarmsIn(dataDir);

    const second = openIn(dataDir, { clock });
    await second.close();

    expect(Object.values(before).filter((alarms) => alarms.length > 0)).toHaveLength(tables.length);
    expect(alarmsIn(dataDir)).toEqual(before);
  });

  it("a dedup window that its insert has closed is closed", async () => {
    const first = openIn(newDirectory());
    const message = aMessage();
    const entry = { key: aKey(), id: message.id };
    await first.records.insert(
      [{ record: accept(message, first.clock.now()), deduplication: [entry] }],
      "new",
    );

    const { tokens } = openIn(copyOf(first), { clock: first.clock });

    expect(await tokens.claim([{ ...entry, id: messageId("another") }])).toEqual([
      { kind: "done", id: message.id },
    ]);
  });

  it("no id is given twice, even when the clock was set back", async () => {
    const first = openIn(newDirectory());
    const given: MessageId[] = Array.from({ length: 10 }, () => first.ids.next());
    const message = aMessage({ id: given.at(-1) ?? messageId("none") });
    await first.records.insert([{ record: accept(message, first.clock.now()) }], "new");

    const { ids } = openIn(copyOf(first), { clock: virtualClock(first.clock.now() - 3_600_000) });

    expect(positionOf(ids.next())).toBeGreaterThan(positionOf(message.id) ?? Infinity);
  });

  it("an event of the minute before the last that has a count is counted again, too", async () => {
    const first = openIn(newDirectory());
    const { clock, messageLog, records } = first;
    const insertAt = (now: number) =>
      records.insert([{ record: accept(aMessage({ id: first.ids.next(), now }), now) }], "new");
    const early = clock.now();
    await insertAt(early);
    await clock.advance(60_000);
    await insertAt(clock.now());
    await messageLog.counts(aTenant, 0, clock.now());
    await insertAt(early);

    const after = openIn(copyOf(first), { clock });

    const minutes = await after.messageLog.counts(aTenant, 0, clock.now());
    expect(minutes.map(({ counts }) => counts)).toEqual([{ CREATED: 2 }, { CREATED: 1 }]);
  });

  it("the backlog is counted, and ended messages are removed in their time", async () => {
    const first = openIn(newDirectory());
    const [live, done] = [aMessage(), aMessage()];
    await first.records.insert(
      [live, done].map((message) => ({ record: accept(message, first.clock.now()) })),
      "new",
    );
    await first.records.cancel(aTenant, [done.id]);

    const { records, clock } = openIn(copyOf(first), { clock: first.clock });

    expect(await records.backlog(aTenant)).toBe(1);
    expect(await records.removeFinished(allShards, clock.now() + 1, 10)).toBe(1);
    expect(await records.get(aTenant, [live.id, done.id])).toMatchObject([
      { message: live },
      undefined,
    ]);
  });
});

const tables = ["messages", "lanes", "queues", "fan_outs", "schedules", "bulk_actions", "runs"];

function setAlarms(dataDir: string, at: number): void {
  const db = new DatabaseSync(join(dataDir, "posthaste.db"));
  for (const table of tables)
    db.prepare(`UPDATE ${table} SET wake_at = ? WHERE wake_at IS NOT NULL`).run(at);
  db.close();
}

function alarmsIn(dataDir: string): Readonly<Record<string, readonly unknown[]>> {
  const db = new DatabaseSync(join(dataDir, "posthaste.db"));
  const alarms = tables.map((table) => [
    table,
    db
      .prepare(`SELECT wake_at FROM ${table} WHERE wake_at IS NOT NULL ORDER BY rowid`)
      .all()
      .map((row) => row["wake_at"]),
  ]);
  db.close();
  return Object.fromEntries(alarms) as Readonly<Record<string, readonly unknown[]>>;
}
