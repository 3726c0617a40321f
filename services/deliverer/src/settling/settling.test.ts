import { describe, expect, it } from "@jest/globals";
import { limits, type Outcome, settleAttempt } from "@posthaste/domain";
import { type Records, type Settled } from "@posthaste/ports";
import {
  aCallbackPlan,
  aClaimedRecord,
  anAnswer,
  anAttempt,
  aPolicy,
  aTenant,
  ourFailure,
} from "@posthaste/testing";
import { expectAllGivenBack } from "@posthaste/testing/give-back";
import { newAttempt } from "../attempts/attempt.ts";
import {
  answer,
  away,
  called,
  deadLettersOf,
  ok,
  open,
  page,
  publish,
  read,
  startDeliverer,
  stateOf,
  tenantsWith,
  wakesOf,
  wired,
  withRecords,
} from "../opened.fixture.ts";
import { Settling } from "./settling.ts";

describe("an outcome", () => {
  it("is written until the store has taken it, and the destination is called once", async () => {
    const ports = open();
    let refusals = 3;
    const settle: Records["settle"] = async (settlements) => {
      if (refusals-- > 0) throw away;
      return ports.records.settle(settlements);
    };
    await startDeliverer(withRecords(ports, { settle }));
    const [message] = await publish(ports, ["a"]);

    await answer(ports, "a");
    expect(message && (await stateOf(ports, message))).toBe("claimed");
    await ports.clock.advance(1_000);

    expect(message && (await stateOf(ports, message))).toBe("delivered");
    expect(ports.calls).toHaveLength(1);
  });

  it.each([
    ["written with it where the tenant's plan keeps bodies", true, "said"],
    ["let go where it keeps none", false, undefined],
  ])("that was a success has an answer, which is %s", async (_, keeps, kept) => {
    const ports = open();
    const tenants = tenantsWith(keeps ? {} : { keepBodiesMs: 0 }, aTenant);
    await startDeliverer({ ...ports, tenants });
    const [message] = await publish(ports, ["a"]);

    await answer(ports, "a", anAnswer(200, { body: "said" }));

    const found = message && (await ports.keptBodies.answer(aTenant, message.id));
    expect(found && Buffer.from(found).toString()).toBe(kept);
  });

  it("is kept through an outage that is longer than its lease, so that no call is repeated", async () => {
    const ports = open();
    let isAway = true;
    const settle: Records["settle"] = async (settlements) => {
      if (isAway) throw away;
      return ports.records.settle(settlements);
    };
    const renew: Records["renew"] = async (claims) => {
      if (isAway) throw away;
      return ports.records.renew(claims);
    };
    await startDeliverer(withRecords(ports, { settle, renew }));
    const [message] = await publish(ports, ["a"]);

    await answer(ports, "a");
    await ports.clock.advance(limits.leaseMs + 10_000);
    isAway = false;
    await ports.clock.advance(2_000);

    expect(message && (await stateOf(ports, message))).toBe("delivered");
    expect(ports.calls).toHaveLength(1);
  });

  it("is written until the store has fenced it, and then nothing is announced", async () => {
    const ports = open();
    let isAway = true;
    const settle: Records["settle"] = async (settlements) => {
      if (isAway) throw away;
      return ports.records.settle(settlements);
    };
    await startDeliverer(withRecords(ports, { settle }));
    const policy = aPolicy({ callback: aCallbackPlan() });
    const [message] = await publish(ports, ["a"], { policy });
    let told = 0;
    await ports.bus.subscribe("message.settled", "test", async () => void told++);

    await answer(ports, "a");
    await ports.records.cancel(aTenant, message ? [message.id] : []);
    isAway = false;
    await ports.clock.advance(5_000);

    expect(message && (await stateOf(ports, message))).toBe("canceled");
    expect(told).toBe(0);
    expect(ports.clock.armed).toBe(0);
  });

  it("that was a failure holds the message for its retry, and wakes the scheduler for that time", async () => {
    const ports = open();
    await startDeliverer(ports);
    const wakes = await wakesOf(ports);
    const policy = aPolicy({ retryDelay: "5000" });
    const [message] = await publish(ports, ["a"], { policy });

    await answer(ports, "a", anAnswer(500));

    const dueAt = ports.clock.now() + 5_000;
    expect(message && (await read(ports, message))).toMatchObject({
      state: { kind: "held", dueAt },
      retried: 1,
    });
    expect(wakes).toEqual([{ shard: message?.shard, at: dueAt, source: "record" }]);
  });

  it("that was our own failure costs no retry: it is tried again soon, and no callback reports it", async () => {
    const ports = open();
    await startDeliverer(ports);
    const [message] = await publish(ports, ["a"], { policy: aPolicy({ retriesMax: 0 }) });

    await answer(ports, "a", ourFailure);

    expect(message && (await read(ports, message))).toMatchObject({
      state: { kind: "held", dueAt: ports.clock.now() + limits.deferralMsMin },
      retried: 0,
      deferrals: 1,
      outbox: [],
    });
    expect(await deadLettersOf(ports)).toEqual([]);
    const { items } = await ports.messageLog.list(aTenant, {}, page);
    expect(items.map(({ event }) => event.state)).toEqual(["CREATED"]);
  });

  it("for a tenant that does not exist is our own failure, too", async () => {
    const ports = open();
    const tenants = { get: () => undefined, find: async () => undefined };
    await startDeliverer({ ...ports, tenants });
    const [message] = await publish(ports, ["a"]);

    expect(ports.calls).toEqual([]);
    expect(message && (await read(ports, message))).toMatchObject({
      state: { kind: "held" },
      retried: 0,
    });
    expect(ports.log.events()).toContain("attempt.deferred");
  });

  it("for a tenant that was made a moment ago comes at once", async () => {
    const ports = open(() => ok);
    // The store does not answer before the claim, so the call looks the tenant up again.
    let looks = 0;
    const tenants: typeof ports.tenants = {
      get: (id) => (looks > 1 ? ports.tenants.get(id) : undefined),
      find: async (id) => {
        if (++looks === 1) throw away;
        return ports.tenants.get(id);
      },
    };
    await startDeliverer({ ...ports, tenants });
    const [message] = await publish(ports, ["a"]);

    expect(called(ports)).toEqual(["a"]);
    expect(message && (await read(ports, message)).deferrals).toBe(0);
    expect(ports.log.events()).not.toContain("attempt.deferred");
  });

  it("with a callback is announced, so that its dispatcher need not wait for an alarm", async () => {
    const ports = open();
    await startDeliverer(ports);
    const told: string[] = [];
    await ports.bus.subscribe("message.settled", "test", async (events) => {
      told.push(...events.map(({ id }) => id));
    });
    const policy = aPolicy({ callback: aCallbackPlan() });
    const [message] = await publish(ports, ["a"], { policy });

    await answer(ports, "a");

    expect(told).toEqual([message?.id]);
  });
});

describe("outcomes that wait to be written", () => {
  const callback = aCallbackPlan();

  function opened() {
    const ports = open();
    let tell: (settled: Settled) => void = () => undefined;
    const settle: Records["settle"] = () =>
      new Promise((resolve) => (tell = (settled) => resolve([settled])));
    const settling = new Settling(withRecords(ports, { settle }), wired(ports));
    const write = (outcome: Outcome) => {
      const record = aClaimedRecord({ policy: aPolicy({ callback }) });
      const inputs = { chance: 0, retryDelayMs: 1_000 };
      void settling.write(
        newAttempt(record, 1, 0, ports.clock),
        settleAttempt(record, anAttempt(outcome), inputs),
      );
      return tell;
    };
    return { settling, write };
  }

  it("give back their bytes, whether they were fenced or have effects to announce", async () => {
    const body = new Uint8Array(20 * 1024 * 1024);
    await expectAllGivenBack(() => {
      const { settling, write } = opened();
      const takes = [200, 500].map((status) => () => {
        if (settling.isFull) return undefined;
        const tell = write({ ...anAnswer(status), body });
        return {
          giveBack: () => tell({ kind: "ok", left: [] }),
          fail: () => tell({ kind: "fenced" }),
        };
      });
      return { takes, held: () => [settling.isFull, settling.isTelling] };
    }, 20);
  });

  it("are two thousand at most, and as many again when those were written", async () => {
    const { settling, write } = opened();
    const fill = () => {
      const tells = [];
      while (!settling.isFull) tells.push(write(ok));
      return tells;
    };
    const first = fill();
    for (const tell of first) tell({ kind: "ok", left: [] });
    await new Promise((resolve) => setImmediate(resolve));

    expect([first.length, fill().length]).toEqual([2_000, 2_000]);
  });
});
