import { describe, expect, it } from "@jest/globals";
import { limits, type Message } from "@posthaste/domain";
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

  it("is tried again later, uncounted, when more than a hundred wait for their turn", async () => {
    const ports = open();
    await startDeliverer(ports);
    const lost: Message[] = [];
    for (let n = 0; n < limits.isolatedMax + 2; n++)
      lost.push((await insertLost(ports, `${n}`, 5)).message);

    await hint(ports, lost);
    await rest(ports);
    const records = await Promise.all(lost.map((message) => read(ports, message)));
    const later = records.filter(({ state }) => state.kind === "held");

    expect(called(ports)).toEqual(["0"]);
    expect(later).toHaveLength(2);
    expect(later[0]).toMatchObject({
      state: { dueAt: ports.clock.now() + limits.isolatedLaterMs },
      leaseLosses: 5,
      retried: 0,
    });
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
