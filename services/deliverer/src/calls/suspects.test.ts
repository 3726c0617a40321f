import { describe, expect, it } from "@jest/globals";
import { limits, type Message, tenantId } from "@posthaste/domain";
import { aClaimedRecord, anAnswer, aTenant, virtualClock } from "@posthaste/testing";
import { Suspects } from "./suspects.ts";
import { beginCalling, newAttempt } from "../attempts/attempt.ts";
import {
  answer,
  away,
  called,
  callOf,
  deadLettersOf,
  hint,
  insertLost,
  open,
  permitsOver,
  type Ports,
  publish,
  read,
  rest,
  startDeliverer,
  stateOf,
  withRecords,
} from "../opened.fixture.ts";

const mebibyte = 1024 * 1024;
/** The suspects that one tenant may have here, with the one being called. */
const lineMax = limits.isolatedMax * (3 / 4);

/** Returns, for each message, whether the store would count a crash now against it. */
async function blamed(ports: Ports, messages: readonly Message[]): Promise<readonly boolean[]> {
  await rest(ports);
  const records = await Promise.all(messages.map((message) => read(ports, message)));
  return records.map(({ state }) => state.kind === "claimed" && state.renewed !== true);
}

describe("a message that takes its deliverers down", () => {
  it("runs alone after five lost leases, one after another, beside the others", async () => {
    const ports = open();
    await startDeliverer(ports);
    const lost = [];
    for (const name of ["x", "y", "z"]) lost.push((await insertLost(ports, name, 5)).message);

    await hint(ports, lost);
    await publish(ports, ["a", "b"]);
    expect(called(ports)).toEqual(["x", "a", "b"]);
    await answer(ports, "x");
    expect(called(ports)).toEqual(["x", "a", "b", "y"]);
    await answer(ports, "y", anAnswer(500));

    expect(called(ports)).toEqual(["x", "a", "b", "y", "z"]);
  });

  it("holds no slot while it waits, and none during its call", async () => {
    const ports = open();
    await startDeliverer(ports, { shortMax: 2 });
    const lost = [];
    for (const name of ["x", "y", "z"]) lost.push((await insertLost(ports, name, 5)).message);

    await hint(ports, lost);
    await publish(ports, ["a", "b", "c"]);

    expect(called(ports)).toEqual(["x", "a", "b"]);
    await ports.clock.advance(50_000);
    expect(callOf(ports, "x").aborted).toBe(false);
  });

  it("that hangs delays the next for a second at most, and tenants take turns", async () => {
    const ports = open();
    await startDeliverer(ports);
    const theirs = { tenant: tenantId("other") };
    const lost = [];
    for (const name of ["x", "y"]) lost.push((await insertLost(ports, name, 5)).message);
    for (const name of ["z", "w"]) lost.push((await insertLost(ports, name, 5, theirs)).message);

    await hint(ports, lost);
    expect(called(ports)).toEqual(["x"]);
    await ports.clock.advance(limits.isolatedTrialMs - 1);
    expect(called(ports)).toEqual(["x"]);
    await ports.clock.advance(1);
    expect(called(ports)).toEqual(["x", "z"]);
    await answer(ports, "z");
    expect(called(ports)).toEqual(["x", "z", "y"]);
    await ports.clock.advance(limits.isolatedTrialMs);

    expect(called(ports)).toEqual(["x", "z", "y", "w"]);
    expect(callOf(ports, "x").aborted).toBe(false);
  });

  it("is tried again later, uncounted, when its tenant's line is as long as it may be", async () => {
    const ports = open();
    await startDeliverer(ports);
    const lost: Message[] = [];
    for (let n = 0; n < lineMax + 2; n++) lost.push((await insertLost(ports, `${n}`, 5)).message);
    const theirs = { tenant: tenantId("other") };
    const other = (await insertLost(ports, "other", 5, theirs)).message;

    await hint(ports, [...lost, other]);
    await rest(ports);
    const records = await Promise.all(lost.map((message) => read(ports, message)));
    const later = records.filter(({ state }) => state.kind === "held");

    expect(called(ports)).toEqual(["0"]);
    expect(await stateOf(ports, other)).toBe("claimed");
    expect(later).toHaveLength(2);
    expect(later[0]).toMatchObject({
      state: { dueAt: ports.clock.now() + limits.isolatedLaterMs },
      leaseLosses: limits.isolateAfter,
      retried: 0,
    });
  });

  it("is the only one blamed for the death of the process, beside messages in line or given back", async () => {
    const ports = open();
    await startDeliverer(ports);
    const lost = [];
    for (const name of ["x", "y", "z"]) lost.push((await insertLost(ports, name, 5)).message);

    await hint(ports, lost);
    const first = await blamed(ports, lost);
    await ports.clock.advance(limits.isolatedTrialMs);

    expect([first, await blamed(ports, lost)]).toEqual([
      [true, false, false],
      [false, true, false],
    ]);
  });

  it("is not called in the first ten seconds of a process, in which an unsuspected message may end it", async () => {
    const ports = open();
    const { message } = await insertLost(ports, "x", 5);
    await startDeliverer(ports);

    await ports.clock.advance(1_000);
    await hint(ports, [message]);
    await ports.clock.advance(limits.isolatedQuietMs - 1_001);
    expect([called(ports), await blamed(ports, [message])]).toEqual([[], [false]]);
    await ports.clock.advance(1);

    expect([called(ports), await blamed(ports, [message])]).toEqual([["x"], [true]]);
  });

  it("that waits when its process stops is given back", async () => {
    const ports = open();
    const { message } = await insertLost(ports, "x", 5);
    const deliverer = await startDeliverer(ports);
    await hint(ports, [message]);

    await deliverer.stop();

    expect([called(ports), await stateOf(ports, message)]).toEqual([[], "held"]);
  });

  it("waits in the store, and holds no bytes of bodies, while it is heavy and not the next", async () => {
    const ports = open();
    await startDeliverer(ports, {}, { bodyBytesMax: 16 * mebibyte });
    const heavy = { body: new Uint8Array(mebibyte) };
    const lost = [(await insertLost(ports, "x", 5)).message];
    for (let n = 0; n < 3; n++) lost.push((await insertLost(ports, "", 5, heavy)).message);

    await hint(ports, lost);
    await rest(ports);
    const waiting = await Promise.all(lost.slice(1).map((message) => stateOf(ports, message)));
    const before = ports.calls.length;
    await answer(ports, "x");
    await ports.clock.advance(limits.isolatedLaterMs);
    await hint(ports, lost.slice(1));

    expect(waiting).toEqual(["held", "held", "held"]);
    expect(before).toBe(1);
    expect(ports.calls).toHaveLength(2);
  });

  it("whose lease cannot be proven is aborted like any other", async () => {
    const opened = open();
    const ports = withRecords(opened, { renew: () => Promise.reject(away) });
    await startDeliverer(ports);
    const { message } = await insertLost(opened, "x", 5);

    await hint(ports, [message]);
    await ports.clock.advance(25_000);

    expect(callOf(ports, "x").aborted).toBe(true);
  });

  it("is not called when its claim is lost before its call", async () => {
    const opened = open();
    const ports = withRecords(opened, { renew: async (claims) => claims.map(({ id }) => id) });
    await startDeliverer(ports);
    const { message } = await insertLost(opened, "x", 5);

    await hint(ports, [message]);

    expect(ports.calls).toEqual([]);
    expect(await stateOf(ports, message)).toBe("claimed");
  });

  it("runs like any other after four lost leases", async () => {
    const ports = open();
    await startDeliverer(ports);
    const lost = [];
    for (const name of ["x", "y"]) lost.push((await insertLost(ports, name, 4)).message);

    await hint(ports, lost);

    expect(called(ports)).toEqual(["x", "y"]);
  });

  it("is a dead letter after eight lost leases, without another call", async () => {
    const ports = open();
    await startDeliverer(ports);
    const { message } = await insertLost(ports, "x", 8);

    await hint(ports, [message]);

    expect(ports.calls).toEqual([]);
    expect(await stateOf(ports, message)).toBe("failed");
    expect(await deadLettersOf(ports)).toMatchObject([
      { reason: "quarantined", message: { id: message.id } },
    ]);
  });
});

it("the line of suspected messages has all its places again after their calls", async () => {
  const clock = virtualClock();
  const suspects = new Suspects(clock, { renew: async () => undefined });
  const permit = permitsOver(open()).take({ tenant: aTenant, origin: 1, bytes: 0 });
  await clock.advance(limits.isolatedQuietMs);
  const filled = async (): Promise<readonly number[]> => {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const counts = ["a", "b", "c"].map((name) => {
      const record = () => aClaimedRecord({ tenant: tenantId(name) });
      let count = 0;
      const attempt = () => beginCalling(newAttempt(record(), 1, 0, clock), permit, clock);
      while (suspects.add(attempt(), () => ended)) count++;
      return count;
    });
    end();
    await clock.advance(0);
    return counts;
  };

  expect(await filled()).toEqual(await filled());
});
