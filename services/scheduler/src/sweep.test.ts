import { describe, expect, it } from "@jest/globals";
import { limits } from "@posthaste/domain";
import { type Alarms, type Groups, type Records } from "@posthaste/ports";
import { aCallbackPlan, aPolicy } from "@posthaste/testing";
import {
  away,
  deliver,
  insert,
  open,
  start,
  stateOf,
  withAlarms,
  withRecords,
} from "./opened.fixture.ts";

describe("the sweep", () => {
  it("is one at a time, and no groups wait for it, behind a backlog that takes longer than a sweep may", async () => {
    const opened = open();
    const { clock } = opened;
    let [running, most, groups] = [0, 0, 0];
    const removeFinished: Records["removeFinished"] = async (_shards, _before, limit) => {
      most = Math.max(most, ++running);
      await new Promise<void>((resolve) => clock.after(2_500, resolve));
      running--;
      return limit;
    };
    const sweep: Groups["sweep"] = async () => ++groups;
    const ports = withRecords(opened, { removeFinished });
    const scheduler = await start({ ...ports, groups: { ...ports.groups, sweep } });

    await clock.advance(20 * limits.sweepEveryMs);
    await Promise.all([scheduler.stop(), clock.advance(limits.sweepEveryMs)]);

    expect(most).toBe(1);
    expect(groups).toBeGreaterThanOrEqual(19);
  });

  it("removes messages that ended 30 s to 60 s ago, and none that is live or has an outbox", async () => {
    const ports = open();
    const withCallback = await insert(ports, { policy: aPolicy({ callback: aCallbackPlan() }) });
    const held = await insert(ports, { delayMs: 86_400_000 });
    const delivered = await insert(ports);
    await deliver(ports, delivered);
    await deliver(ports, withCallback);
    // This scheduler rings nothing and so works no outboxes; another scheduler does.
    const ring: Alarms["ring"] = async () => ({ rung: [], more: new Set() });
    const next: Alarms["next"] = async () => undefined;
    await start(withAlarms(ports, { next, ring }));

    await ports.clock.advance(limits.finishedKeepMs);
    expect(await stateOf(ports, delivered)).toBe("delivered");
    await ports.clock.advance(30_000);

    expect(await stateOf(ports, delivered)).toBeUndefined();
    expect(await stateOf(ports, withCallback)).toBe("delivered");
    expect(await stateOf(ports, held)).toBe("held");
  });

  it("continues after it has failed", async () => {
    const opened = open();
    let refusals = 1;
    const removeFinished: Records["removeFinished"] = async (...args) => {
      if (refusals-- > 0) throw away;
      return opened.records.removeFinished(...args);
    };
    const ports = withRecords(opened, { removeFinished });
    const message = await insert(ports);
    await deliver(ports, message);
    await start(ports);

    await ports.clock.advance(60_000);

    expect(await stateOf(ports, message)).toBeUndefined();
    expect(ports.log.events()).toContain("background.failed");
  });
});
