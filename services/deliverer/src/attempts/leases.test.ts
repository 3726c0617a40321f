import { describe, expect, it } from "@jest/globals";
import { limits, owner } from "@posthaste/domain";
import { type Records } from "@posthaste/ports";
import { anotherTenant, aTenant } from "@posthaste/testing";
import {
  answer,
  away,
  called,
  callOf,
  elsewhere,
  insert,
  named,
  ok,
  open,
  publish,
  read,
  rest,
  startDeliverer,
  stateOf,
  withRecords,
} from "../opened.fixture.ts";

describe("a lease", () => {
  it("that has run out before the call allows no call, and nothing is written", async () => {
    const opened = open();
    const { promise, resolve: letGo } = Promise.withResolvers<void>();
    const claim: Records["claim"] = async (...args) => {
      const claimed = await opened.records.claim(...args);
      await promise;
      return claimed;
    };
    const ports = withRecords(opened, { claim });
    await startDeliverer(ports);
    const [message] = await publish(ports, ["late"]);

    await ports.clock.advance(limits.leaseMs);
    letGo();
    await rest(ports);

    expect(called(ports)).toEqual([]);
    expect(message && (await stateOf(ports, message))).toBe("claimed");
  });

  it("is renewed for as long as the call lasts, so that no other deliverer claims the message", async () => {
    const ports = open();
    await startDeliverer(ports);
    const [message] = await publish(ports, ["slow"]);

    await ports.clock.advance(300_000);
    expect(message && (await ports.records.claim([message.id], owner("other")))).toEqual([]);
    await answer(ports, "slow");

    expect(message && (await read(ports, message))).toMatchObject({
      state: { kind: "delivered" },
      leaseLosses: 0,
      epoch: 1,
    });
    expect(ports.calls).toHaveLength(1);
  });

  it("is renewed also for a message that a clock which was ahead has made", async () => {
    const ports = open();
    await startDeliverer(ports);
    const [message] = await publish(ports, ["slow"], {
      now: ports.clock.now() + 600_000,
      notBefore: ports.clock.now(),
    });

    await ports.clock.advance(60_000);

    expect(callOf(ports, "slow").aborted).toBe(false);
    expect(message && (await ports.records.claim([message.id], owner("other")))).toEqual([]);
  });

  it("that is lost according to the store aborts the call, and nothing is written", async () => {
    const ports = open();
    let settles = 0;
    const settle: Records["settle"] = (settlements) => {
      settles += 1;
      return ports.records.settle(settlements);
    };
    const deliverer = await startDeliverer(withRecords(ports, { settle }), { shortMax: 1 });
    const [message] = await publish(ports, ["a"]);

    await ports.records.cancel(aTenant, message ? [message.id] : []);
    await ports.clock.advance(limits.leaseRenewMs);

    expect(callOf(ports, "a").aborted).toBe(true);
    expect(settles).toBe(0);
    expect(deliverer.local.reserve(aTenant, 1, 0)).toBeDefined();
  });

  it("that cannot be renewed aborts the call 5 s before it ends, and nothing is written", async () => {
    const ports = open();
    let settles = 0;
    await startDeliverer(
      withRecords(ports, {
        renew: () => Promise.reject(away),
        settle: (settlements) => {
          settles += 1;
          return ports.records.settle(settlements);
        },
      }),
    );
    await publish(ports, ["a"]);

    await ports.clock.advance(24_000);
    expect(callOf(ports, "a").aborted).toBe(false);
    await ports.clock.advance(1_000);

    expect(callOf(ports, "a").aborted).toBe(true);
    expect(settles).toBe(0);
    expect(ports.log.events()).toContain("attempt.lease-unproven");
  });

  it("is renewed while the disk takes twenty seconds for a sync: one call, and none is lost", async () => {
    const held: (() => void)[] = [];
    let isHeld = false;
    const sync = {
      run: async () => {
        if (isHeld) await new Promise<void>((resolve) => held.push(resolve));
      },
      runNow: () => undefined,
      close: () => undefined,
    };
    const ports = open(undefined, { sync });
    await startDeliverer(ports);
    const [message] = await publish(ports, ["a"]);
    await ports.clock.advance(9_000);

    isHeld = true;
    const behind = insert(ports, named("behind"));
    await ports.clock.advance(20_000);
    expect(held).toHaveLength(1);
    isHeld = false;
    for (const letGo of held) letGo();
    await behind;
    await ports.clock.advance(31_000);
    expect(callOf(ports, "a").aborted).toBe(false);
    await answer(ports, "a");

    expect(called(ports)).toEqual(["a"]);
    expect(message && (await read(ports, message))).toMatchObject({
      state: { kind: "delivered" },
      epoch: 1,
    });
  });

  it("is given up at once when the message is cancelled in this process", async () => {
    const ports = open();
    const deliverer = await startDeliverer(ports);
    const [message] = await publish(ports, ["a"]);
    if (!message) throw new Error("one message was published");

    await ports.records.cancel(aTenant, [message.id]);
    deliverer.local.abort(message.id);
    await rest(ports);

    expect(callOf(ports, "a").aborted).toBe(true);
    expect(await stateOf(ports, message)).toBe("canceled");
    expect(ports.clock.armed).toBe(1);
    await ports.clock.advance(2_000);
    expect(ports.clock.armed).toBe(0);
  });
});

describe("a call that waits for its answer", () => {
  it("leaves its slot to others after a second, as long as waiting calls may have one more", async () => {
    const ports = open();
    await startDeliverer(ports, { shortMax: 1, waitingMax: 1 });
    await publish(ports, ["a", "b", "c"]);

    await ports.clock.advance(limits.waitingAttemptMs - 1);
    expect(called(ports)).toEqual(["a"]);
    await ports.clock.advance(251);
    expect(called(ports)).toEqual(["a", "b"]);
    await ports.clock.advance(120_000);

    expect(called(ports)).toEqual(["a", "b"]);
    await answer(ports, "a");
    await ports.clock.advance(1_000);
    expect(called(ports)).toEqual(["a", "b", "c"]);
    await answer(ports, "b");
    await answer(ports, "c");
    expect(ports.calls.some(({ aborted }) => aborted)).toBe(false);
  });

  it("counts for its origin for a minute, so that a slow destination is not called more and more often", async () => {
    const ports = open();
    await startDeliverer(ports, { perOriginMax: 2 });
    await publish(ports, ["a", "b", "c"]);

    await ports.clock.advance(59_000);
    expect(called(ports)).toEqual(["a", "b"]);
    await ports.clock.advance(2_000);

    expect(called(ports)).toEqual(["a", "b", "c"]);
  });

  it("delays neither another tenant nor another address of the same tenant, however many names its server has", async () => {
    const ports = open();
    await startDeliverer(ports, { shortMax: 40, perOriginMax: 10, waitingMax: 20 });
    const silent = Array.from({ length: 16 }, (_, n) => `https://silent-${n}.example/hook`);
    for (const url of silent) {
      await publish(ports, [url], { url });
      await answer(ports, url);
    }
    for (const url of silent) {
      await publish(
        ports,
        Array.from({ length: 10 }, (_, n) => `${url} ${n}`),
        { url },
      );
      await ports.clock.advance(2_000);
    }
    // All running calls hang, and hold every slot that they may hold.
    expect(called(ports).length - silent.length).toBeLessThan(40);

    await publish(ports, ["other tenant"], { tenant: anotherTenant, url: "https://other.example" });
    expect(called(ports)).toContain("other tenant");
    await publish(ports, ["other origin"], { url: elsewhere });
    expect(called(ports)).toContain("other origin");
  });

  it("keeps its lease among thousands, which end one after another", async () => {
    const ports = open();
    let renewedAtOnceMax = 0;
    const renew: Records["renew"] = (claims) => {
      renewedAtOnceMax = Math.max(renewedAtOnceMax, claims.length);
      return ports.records.renew(claims);
    };
    const bounds = { shortMax: 10_000, perOriginMax: 10_000, waitingMax: 10_000 };
    await startDeliverer(withRecords(ports, { renew }), bounds);
    const names = Array.from({ length: 900 }, (_, n) => `${n}`);
    for (let n = 0; n < 3; n++) await publish(ports, names);
    await ports.clock.advance(60_000);

    expect(ports.calls).toHaveLength(2_700);
    expect(ports.calls.some(({ aborted }) => aborted)).toBe(false);
    expect(renewedAtOnceMax).toBeLessThanOrEqual(500);
    for (const { answer } of ports.calls) answer(ok);
    await ports.clock.advance(1_000);
    expect(ports.clock.armed).toBe(0);
  });
});
