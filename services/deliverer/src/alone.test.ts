import { describe, expect, it } from "@jest/globals";
import { limits, type Message, tenantId } from "@posthaste/domain";
import { anAnswer } from "@posthaste/testing";
import {
  answer,
  away,
  called,
  callOf,
  deadLettersOf,
  hint,
  insertLost,
  open,
  publish,
  read,
  rest,
  startDeliverer,
  stateOf,
  withRecords,
} from "./opened.fixture.ts";

const mebibyte = 1024 * 1024;
/** Of one tenant, with what is called. */
const lineMax = limits.isolatedMax * (3 / 4);

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

  it("holds no slot while it waits for its turn, nor in its turn", async () => {
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

  it("waits for those of its own tenant only", async () => {
    const ports = open();
    await startDeliverer(ports);
    const theirs = { tenant: tenantId("other") };
    const lost = [];
    for (const name of ["x", "y"]) lost.push((await insertLost(ports, name, 5)).message);
    for (const name of ["z", "w"]) lost.push((await insertLost(ports, name, 5, theirs)).message);

    await hint(ports, lost);
    await ports.clock.advance(3_600_000 * 2);

    expect(called(ports)).toEqual(["x", "z"]);
    await answer(ports, "z");
    expect(called(ports)).toEqual(["x", "z", "w"]);
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

    expect(called(ports)).toEqual(["0", "other"]);
    expect(later).toHaveLength(2);
    expect(later[0]).toMatchObject({
      state: { dueAt: ports.clock.now() + limits.isolatedLaterMs },
      leaseLosses: 5,
      retried: 0,
    });
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

  it("runs like any other after four", async () => {
    const ports = open();
    await startDeliverer(ports);
    const lost = [];
    for (const name of ["x", "y"]) lost.push((await insertLost(ports, name, 4)).message);

    await hint(ports, lost);

    expect(called(ports)).toEqual(["x", "y"]);
  });

  it("is a dead letter after eight, without another call", async () => {
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
