import { describe, expect, it } from "@jest/globals";
import { flowLaneId, limits, type Message } from "@posthaste/domain";
import { aTenant } from "@posthaste/testing";
import {
  answer,
  away,
  callOf,
  hint,
  insert,
  named,
  open,
  type Ports,
  read,
  startDeliverer,
  stateOf,
  wakesOf,
  withRecords,
} from "../opened.fixture.ts";

describe("a message with flow control", () => {
  const flow = { key: "tight", limits: { parallelism: 1, periodMs: 1_000 } };
  const lane = flowLaneId(aTenant, flow.key);

  async function insertGranted(ports: Ports): Promise<Message> {
    const message = await insert(ports, { ...named("a"), flow });
    const until = ports.clock.now() + limits.grantMs;
    await ports.tokens.restore(lane, [], undefined);
    await ports.tokens.acquire(lane, [message.id], flow.limits);
    await ports.flowLanes.promote(lane, [message.id], until);
    return message;
  }

  it("keeps its slot for as long as the call lasts, and gives it back", async () => {
    const ports = open();
    await startDeliverer(ports);
    const message = await insertGranted(ports);
    const wakes = await wakesOf(ports);

    await hint(ports, [message]);
    await ports.clock.advance(300_000);
    expect(await ports.tokens.peek(lane)).toMatchObject({ slots: 1 });
    await answer(ports, "a");

    expect(await stateOf(ports, message)).toBe("delivered");
    expect(await ports.tokens.peek(lane)).toMatchObject({ slots: 0 });
    expect(wakes).toEqual([{ shard: message.shard, at: ports.clock.now(), lane }]);
  });

  it("that is cancelled by another process gives its slot back when its call is aborted here", async () => {
    const ports = open();
    await startDeliverer(ports);
    const message = await insertGranted(ports);
    const wakes = await wakesOf(ports);
    await hint(ports, [message]);

    await ports.records.cancel(aTenant, [message.id]);
    await ports.clock.advance(limits.leaseRenewMs - 1);
    expect(await ports.tokens.peek(lane)).toMatchObject({ slots: 1 });
    await ports.clock.advance(1);

    expect(callOf(ports, "a").aborted).toBe(true);
    expect(await ports.tokens.peek(lane)).toMatchObject({ slots: 0 });
    expect(wakes).toEqual([{ shard: message.shard, at: ports.clock.now(), lane }]);
  });

  it("that is cancelled by another process gives its slot back when its call has ended", async () => {
    const ports = open();
    await startDeliverer(ports);
    const message = await insertGranted(ports);
    await hint(ports, [message]);

    await ports.records.cancel(aTenant, [message.id]);
    await answer(ports, "a");

    expect(await stateOf(ports, message)).toBe("canceled");
    expect(await ports.tokens.peek(lane)).toMatchObject({ slots: 0 });
  });

  it("that another process has claimed leaves the slot to that process's call", async () => {
    const ports = open();
    await startDeliverer(
      withRecords(ports, { renew: async (claims) => claims.map(({ id }) => id) }),
    );
    const message = await insertGranted(ports);
    await hint(ports, [message]);

    await ports.clock.advance(limits.leaseRenewMs);

    expect(callOf(ports, "a").aborted).toBe(true);
    expect(await ports.tokens.peek(lane)).toMatchObject({ slots: 1 });
  });

  it("keeps its slot through an outage of the token store that is longer than a lease", async () => {
    const ports = open();
    let isAway = true;
    const { tokens } = ports;
    const hold: typeof tokens.hold = async (...held) => {
      if (isAway) throw away;
      await tokens.hold(...held);
    };
    await startDeliverer({ ...ports, tokens: { ...tokens, hold } });
    const message = await insertGranted(ports);
    await hint(ports, [message]);
    await ports.clock.advance(2 * limits.leaseMs);
    const slotsAway = (await tokens.peek(lane)).slots;
    isAway = false;

    await ports.clock.advance(limits.leaseRenewMs);

    expect(slotsAway).toBe(0);
    expect(await tokens.peek(lane)).toMatchObject({ slots: 1 });
    await answer(ports, "a");
    expect(await tokens.peek(lane)).toMatchObject({ slots: 0 });
  });

  it("goes back into its line without a call or a counted attempt when its slot is gone", async () => {
    const ports = open();
    await startDeliverer(ports);
    const message = await insertGranted(ports);
    await ports.tokens.release(lane, [message.id]);

    await hint(ports, [message]);

    expect(ports.calls).toEqual([]);
    expect(await read(ports, message)).toMatchObject({ state: { kind: "waiting" }, retried: 0 });
  });

  it("goes back into its line without a call when its slot cannot be proven", async () => {
    const ports = open();
    const use = (): Promise<never> => Promise.reject(away);
    await startDeliverer({ ...ports, tokens: { ...ports.tokens, use } });
    const message = await insertGranted(ports);

    await hint(ports, [message]);

    expect(ports.calls).toEqual([]);
    expect(await stateOf(ports, message)).toBe("waiting");
    expect(ports.log.events()).toContain("slot.unproven");
  });
});
