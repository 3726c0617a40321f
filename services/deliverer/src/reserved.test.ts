import { describe, expect, it } from "@jest/globals";
import { acceptClaimed, originHash } from "@posthaste/domain";
import { type Records } from "@posthaste/ports";
import { aMessage, anotherTenant, aTenant } from "@posthaste/testing";
import { type Deliverer } from "./deliverer.ts";
import {
  answer,
  away,
  called,
  callOf,
  drainMs,
  elsewhere,
  named,
  open,
  type Ports,
  publish,
  read,
  rest,
  startDeliverer,
  stateOf,
  withRecords,
} from "./opened.fixture.ts";

describe("a slot reserved for an insert", () => {
  const origin = originHash("https://destination.example/hook");

  /** Inserted and claimed, and not yet handed over. */
  async function reserved(ports: Ports, deliverer: Deliverer, names: readonly string[]) {
    const records = names.map((name) => {
      const message = aMessage({ id: ports.newId(), now: ports.clock.now(), ...named(name) });
      expect(deliverer.local.reserve(aTenant, origin, 0)).toBe(true);
      return acceptClaimed(message, deliverer.local.owner, ports.clock.now());
    });
    await ports.records.insert(
      records.map((record) => ({ record })),
      "new",
    );
    return records;
  }

  it("is one of as many as there are slots, and free again when the insert has failed", async () => {
    const deliverer = await startDeliverer(open(), { perOriginMax: 2 });

    expect(deliverer.local.reserve(aTenant, origin, 0)).toBe(true);
    expect(deliverer.local.reserve(aTenant, origin, 0)).toBe(true);
    expect(deliverer.local.reserve(aTenant, origin, 0)).toBe(false);
    expect(deliverer.local.reserve(aTenant, originHash(elsewhere), 0)).toBe(true);
    deliverer.local.release(aTenant, origin, 0);

    expect(deliverer.local.reserve(aTenant, origin, 0)).toBe(true);
  });

  it("holds nothing up while the insert is under way, and is refused when there are as many as slots", async () => {
    const ports = open();
    const deliverer = await startDeliverer(ports, { shortMax: 1 });

    expect(deliverer.local.reserve(aTenant, origin, 0)).toBe(true);
    await publish(ports, ["a"]);
    expect(called(ports)).toEqual(["a"]);
    expect(deliverer.local.reserve(aTenant, originHash(elsewhere), 0)).toBe(false);
  });

  it("is given beside a backlog of the destination, and takes turns with it", async () => {
    const ports = open();
    const deliverer = await startDeliverer(ports, { perOriginMax: 3, shortMax: 1, waitingMax: 0 });
    await publish(ports, ["due 1", "due 2", "due 3", "due 4"]);
    const records = await reserved(ports, deliverer, ["new 1"]);
    for (const record of records) deliverer.local.run(record);
    const rounds = ["due 1", "due 2", "new 1"];
    for (const name of rounds) await answer(ports, name);
    for (const record of await reserved(ports, deliverer, ["new 2"])) deliverer.local.run(record);
    for (const name of ["due 3", "due 4"]) await answer(ports, name);

    expect(called(ports)).toEqual([...rounds, "due 3", "due 4", "new 2"]);
  });

  it("is waited for, in turn, while the process has no time to spare, and given when a call of the origin begins", async () => {
    const ports = open();
    const deliverer = await startDeliverer(ports, { perOriginMax: 1 }, { isBusy: () => true });
    await publish(ports, ["due"]);
    for (const record of await reserved(ports, deliverer, ["new"])) deliverer.local.run(record);
    const ended: string[] = [];
    for (const name of ["first", "second"])
      void deliverer.local.turn(aTenant, origin, 0)?.then(() => ended.push(name));
    await rest(ports);
    expect(ended).toEqual([]);

    await answer(ports, "due");

    expect(called(ports)).toEqual(["due", "new"]);
    expect(ended).toEqual(["first"]);
  });

  it("is waited for in vain for 200 ms at most, and not once the deliverer stops", async () => {
    const ports = open();
    const deliverer = await startDeliverer(ports, { perOriginMax: 1 }, { isBusy: () => true });
    const ended: string[] = [];
    const wait = (name: string) =>
      void deliverer.local.turn(aTenant, origin, 0)?.then(() => ended.push(name));
    wait("first");
    await ports.clock.advance(100);
    wait("second");
    await ports.clock.advance(99);
    expect(ended).toEqual([]);
    await ports.clock.advance(1);
    expect(ended).toEqual(["first"]);
    await ports.clock.advance(100);
    expect(ended).toEqual(["first", "second"]);

    wait("third");
    await deliverer.stop();
    expect(ended).toEqual(["first", "second", "third"]);
    expect(deliverer.local.turn(aTenant, origin, 0)).toBeUndefined();
  });

  it("is not waited for while the process has time, nor by a heavy message", async () => {
    const ports = open();
    let isBusy = false;
    const deliverer = await startDeliverer(ports, {}, { isBusy: () => isBusy });

    expect(deliverer.local.turn(aTenant, origin, 0)).toBeUndefined();
    isBusy = true;
    expect(deliverer.local.turn(aTenant, origin, 100_000)).toBeUndefined();
    expect(deliverer.local.turn(aTenant, origin, 0)).toBeDefined();
  });

  it("waits for its call no longer than its turn, however many timers of its destination fall due at once", async () => {
    const ports = open();
    const deliverer = await startDeliverer(ports, { perOriginMax: 1 });
    const due = Array.from({ length: 1_500 }, (_, n) => `due ${n}`);
    await publish(ports, due);
    for (const record of await reserved(ports, deliverer, ["new"])) deliverer.local.run(record);
    for (const name of ["due 0", "due 1"]) await answer(ports, name);

    expect(called(ports)).toEqual(["due 0", "due 1", "new"]);
  });

  it("takes its turn among tenants that wait for the slots of the process", async () => {
    const ports = open();
    const deliverer = await startDeliverer(ports, { shortMax: 1, waitingMax: 0 });
    await publish(ports, ["a"]);
    await publish(ports, ["other tenant"], { tenant: anotherTenant, url: elsewhere });
    for (const record of await reserved(ports, deliverer, ["new"])) deliverer.local.run(record);
    for (const name of ["a", "other tenant"]) await answer(ports, name);

    expect(called(ports)).toEqual(["a", "other tenant", "new"]);
  });

  it("is refused to a heavy message that would have to wait for its slot", async () => {
    const ports = open();
    const deliverer = await startDeliverer(ports, { perOriginMax: 1 });
    const heavy = 100_000;
    expect(deliverer.local.reserve(aTenant, origin, heavy)).toBe(true);
    deliverer.local.release(aTenant, origin, heavy);
    await publish(ports, ["a"]);

    expect(deliverer.local.reserve(aTenant, origin, heavy)).toBe(false);
    expect(deliverer.local.reserve(aTenant, origin, 0)).toBe(true);
  });

  it("is refused once the deliverer stops, and what was reserved before goes back", async () => {
    const ports = open();
    const deliverer = await startDeliverer(ports);
    const [late] = await reserved(ports, deliverer, ["late"]);
    const stopped = deliverer.stop();
    await rest(ports);
    if (late) deliverer.local.run(late);
    await stopped;
    await rest(ports);

    expect(deliverer.local.reserve(aTenant, origin, 0)).toBe(false);
    expect(called(ports)).toEqual([]);
    expect(late && (await stateOf(ports, late.message))).toBe("held");
  });

  it("goes to the first in line as soon as a call has ended, though its outcome is still being written", async () => {
    const ports = open();
    const settle: Records["settle"] = () => new Promise(() => undefined);
    const deliverer = await startDeliverer(withRecords(ports, { settle }), { perOriginMax: 2 });
    const records = await reserved(ports, deliverer, ["a", "b"]);
    await publish(ports, ["x", "y"]);
    for (const record of records) deliverer.local.run(record);

    await answer(ports, "x");
    expect(called(ports)).toEqual(["x", "y", "a"]);
    await answer(ports, "y");

    expect(called(ports)).toEqual(["x", "y", "a", "b"]);
  });

  it("goes to the first in line when one is free, never beyond the limit, in turn with the hints", async () => {
    const ports = open();
    const deliverer = await startDeliverer(ports, { perOriginMax: 2 });
    const records = await reserved(ports, deliverer, ["a", "b"]);
    await publish(ports, ["x", "y", "z"]);
    for (const record of records) deliverer.local.run(record);
    expect(called(ports)).toEqual(["x", "y"]);

    for (const name of ["x", "y", "a"]) await answer(ports, name);

    expect(called(ports)).toEqual(["x", "y", "z", "a", "b"]);
  });

  it("is waited for under a lease that is renewed, and a cancelled one is not called", async () => {
    const ports = open();
    const deliverer = await startDeliverer(ports, { shortMax: 2, waitingMax: 0 });
    const records = await reserved(ports, deliverer, ["a", "b"]);
    await publish(ports, ["x", "y"]);
    for (const record of records) deliverer.local.run(record);
    await ports.clock.advance(50_000);
    const [a, b] = records.map(({ message }) => message);
    if (a) await ports.records.cancel(aTenant, [a.id]);
    if (a) deliverer.local.abort(a.id);
    await answer(ports, "x");
    await answer(ports, "b");

    expect(called(ports)).toEqual(["x", "y", "b"]);
    expect(b && (await read(ports, b))).toMatchObject({ state: { kind: "delivered" }, epoch: 1 });
  });

  it("that has not come when the time to drain is up hands the claim back", async () => {
    const ports = open();
    const deliverer = await startDeliverer(ports, { shortMax: 1, waitingMax: 0 });
    const [record] = await reserved(ports, deliverer, ["a"]);
    await publish(ports, ["x"]);
    if (record) deliverer.local.run(record);
    const stopped = deliverer.stop();
    await ports.clock.advance(drainMs);
    await stopped;

    expect(called(ports)).toEqual(["x"]);
    expect(record && (await stateOf(ports, record.message))).toBe("held");
  });

  it("has its lease counted from before the insert, however long that took", async () => {
    const opened = open();
    const ports = withRecords(opened, { renew: () => Promise.reject(away) });
    const deliverer = await startDeliverer(ports);
    const message = aMessage({ id: ports.newId(), now: ports.clock.now(), ...named("slow") });
    const record = acceptClaimed(message, deliverer.local.owner, ports.clock.now());
    await ports.records.insert([{ record }], "new");
    await ports.clock.advance(21_000);
    deliverer.local.reserve(aTenant, origin, 0);
    deliverer.local.run(record);
    await ports.clock.advance(3_999);
    expect(callOf(ports, "slow").aborted).toBe(false);
    await ports.clock.advance(1);

    expect(callOf(ports, "slow").aborted).toBe(true);
  });
});
