import { expect, it } from "@jest/globals";
import { aTenant } from "@posthaste/testing";
import { insert, listen, open } from "./opened.fixture.ts";
import { runNow } from "./run-now.ts";

it("a message that runs now wakes the scheduler of its shard, and a message that waits for nothing does not", async () => {
  const ports = open();
  const { wakes } = await listen(ports);
  const held = await insert(ports, { delayMs: 60_000 });
  const due = await insert(ports);

  expect(await runNow(ports, aTenant, held.id)).toBe("released");
  expect(await runNow(ports, aTenant, due.id)).toBe("unknown");

  expect(wakes).toEqual([{ shard: held.shard, at: ports.clock.now(), source: "record" }]);
});

it("a message runs now though the bus is away: its alarm is now", async () => {
  const ports = open();
  const held = await insert(ports, { delayMs: 60_000 });
  const bus = { ...ports.bus, publish: () => Promise.reject(new Error("away")) };

  expect(await runNow({ ...ports, bus }, aTenant, held.id)).toBe("released");
  expect(await ports.alarms.next([held.shard])).toBe(ports.clock.now());
});
