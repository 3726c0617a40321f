import { describe, expect, it } from "@jest/globals";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import {
  accept,
  acceptClaimed,
  type DeduplicationKey,
  deduplicationKeys,
  flowLaneId,
  limits,
  messageId,
  type MessageId,
  positionOf,
} from "@posthaste/domain";
import { aCommand, aMessage, anOwner, aTenant, virtualClock } from "@posthaste/testing";
import { allShards, newDirectory, openIn, type Opened } from "./opened.fixture.ts";

/** As a process leaves its directory when it is killed: nothing is closed. */
function copyOf({ dataDir }: Opened): string {
  const copy = newDirectory();
  for (const file of ["posthaste.db", "posthaste.db-wal"])
    copyFileSync(join(dataDir, file), join(copy, file));
  return copy;
}

function aKey(): DeduplicationKey {
  const [key] = deduplicationKeys(
    aCommand({ deduplication: { kind: "explicit", id: "order-1" } }),
    [],
    String,
  );
  if (key === undefined) throw new Error("a publish with an explicit id has a key");
  return key;
}

const flow = { key: "tight", limits: { parallelism: 1, periodMs: 1_000 } };

describe("after a process was killed", () => {
  it("what was acknowledged is there", async () => {
    const dataDir = newDirectory();
    const url = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href);
    const script = `
      import { accept } from "@posthaste/domain";
      import { aMessage, seededRandom, recordingLog, virtualClock } from "@posthaste/testing";
      import { openEmbedded } from ${url("./index.ts")};
      const clock = virtualClock();
      const { messages, ids } = openEmbedded({
        dataDir: ${JSON.stringify(dataDir)}, clock, random: seededRandom(7), log: recordingLog(), reserveBytes: 0,
      });
      const publishForEver = async () => {
        for (;;) {
          const record = accept(aMessage({ id: ids.next() }), clock.now());
          await messages.insert([{ record }]);
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

    const { messages } = openIn(dataDir);
    const found = await messages.get(aTenant, lines.map(messageId));

    expect(lines.length).toBeGreaterThan(100);
    expect(found.filter((record) => record === undefined)).toEqual([]);
  });

  it("what it had claimed can be claimed at once, has lost a lease, and the old claim is fenced", async () => {
    const first = openIn(newDirectory());
    const record = acceptClaimed(aMessage(), anOwner, first.clock.now());
    await first.messages.insert([{ record }]);

    const second = openIn(copyOf(first), { clock: first.clock });
    const rings = await second.messages.ring(allShards, 10);
    const claimed = await second.messages.claim([record.message.id], anOwner);

    expect(second.recovered).toMatchObject({ claims: 1, live: 1 });
    expect(rings.hints.map(({ id }) => id)).toEqual([record.message.id]);
    expect(claimed).toMatchObject([{ leaseLosses: 1, epoch: 2 }]);
    expect(await second.messages.renew([{ id: record.message.id, epoch: 1 }])).toEqual([
      record.message.id,
    ]);
  });

  it("what it had claimed out of a lane stands in its line again, and the lane's alarm is now", async () => {
    const first = openIn(newDirectory());
    const message = aMessage({ flow });
    await first.messages.insert([{ record: accept(message, first.clock.now()) }]);
    const lane = flowLaneId(aTenant, flow.key);
    await first.messages.rest(lane, 1, undefined, { startedAt: first.clock.now(), count: 1 });
    await first.messages.promote(lane, [message.id], first.clock.now() + limits.grantMs);
    await first.messages.claim([message.id], anOwner);

    const { messages, clock } = openIn(copyOf(first), { clock: first.clock });

    expect(await messages.heads(lane, 10)).toMatchObject([{ id: message.id }]);
    expect(await messages.lanes([lane])).toMatchObject([
      { wakeAt: clock.now(), window: { count: 1 } },
    ]);
  });

  it("what only waited to be heard of rings at once: due records and outboxes, but not what is held", async () => {
    const before = openIn(newDirectory());
    const { clock, ids, messages } = before;
    const due = aMessage({ id: ids.next() });
    const held = aMessage({ id: ids.next(), notBefore: clock.now() + 3_600_000 });
    await messages.insert([due, held].map((message) => ({ record: accept(message, clock.now()) })));
    await clock.advance(1_000);

    const after = openIn(copyOf(before), { clock });
    const { hints } = await after.messages.ring(allShards, 10);

    expect(hints.map(({ id }) => id)).toEqual([due.id]);
  });

  it("a dedup window that its insert has closed is closed", async () => {
    const first = openIn(newDirectory());
    const message = aMessage();
    const entry = { key: aKey(), id: message.id };
    await first.messages.insert([
      { record: accept(message, first.clock.now()), deduplication: [entry] },
    ]);

    const { tokens } = openIn(copyOf(first), { clock: first.clock });

    expect(await tokens.claim([{ ...entry, id: messageId("another") }])).toEqual([
      { kind: "done", id: message.id },
    ]);
  });

  it("no id is given twice, even when the clock has gone back", async () => {
    const first = openIn(newDirectory());
    const given: MessageId[] = Array.from({ length: 10 }, () => first.ids.next());
    const message = aMessage({ id: given.at(-1) ?? messageId("none") });
    await first.messages.insert([{ record: accept(message, first.clock.now()) }]);

    const { ids } = openIn(copyOf(first), { clock: virtualClock(first.clock.now() - 3_600_000) });

    expect(positionOf(ids.next())).toBeGreaterThan(positionOf(message.id) ?? Infinity);
  });

  it("the backlog is counted, and what has ended goes in its time", async () => {
    const first = openIn(newDirectory());
    const [live, done] = [aMessage(), aMessage()];
    await first.messages.insert(
      [live, done].map((message) => ({ record: accept(message, first.clock.now()) })),
    );
    await first.messages.cancel(aTenant, [done.id]);

    const { messages, clock } = openIn(copyOf(first), { clock: first.clock });

    expect(await messages.backlog(aTenant)).toBe(1);
    expect(await messages.removeFinished(allShards, clock.now() + 1, 10)).toBe(1);
    expect(await messages.get(aTenant, [live.id, done.id])).toMatchObject([
      { message: live },
      undefined,
    ]);
  });
});
