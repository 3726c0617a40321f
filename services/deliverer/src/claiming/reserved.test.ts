import { describe, expect, it } from "@jest/globals";
import { acceptClaimed, originHash } from "@posthaste/domain";
import { type LocalPlace, type Records } from "@posthaste/ports";
import { aMessage, anotherTenant, aTenant } from "@posthaste/testing";
import { type Deliverer } from "../deliverer.ts";
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
} from "../opened.fixture.ts";

describe("a slot reserved for an insert", () => {
  const origin = originHash("https://destination.example/hook");

  /** Inserts claimed messages; `run` hands each to the deliverer. */
  async function reserved(ports: Ports, deliverer: Deliverer, names: readonly string[]) {
    const all = names.map((name) => {
      const message = aMessage({ id: ports.newId(), now: ports.clock.now(), ...named(name) });
      const place = placeOf(deliverer);
      const record = acceptClaimed(message, place.owner, ports.clock.now());
      return { record, run: () => place.run(record) };
    });
    await ports.records.insert(
      all.map(({ record }) => ({ record })),
      "new",
    );
    return all;
  }

  function placeOf(deliverer: Deliverer, bytes = 0): LocalPlace {
    const place = deliverer.local.reserve(aTenant, origin, bytes);
    if (!place) throw new Error("there is no place in line");
    return place;
  }

  it("is bounded in number by the slots, and free again when the insert has failed", async () => {
    const deliverer = await startDeliverer(open(), { perOriginMax: 2 });

    const [place] = [placeOf(deliverer), placeOf(deliverer)];
    expect(deliverer.local.reserve(aTenant, origin, 0)).toBeUndefined();
    expect(deliverer.local.reserve(aTenant, originHash(elsewhere), 0)).toBeDefined();
    place?.release();

    expect(deliverer.local.reserve(aTenant, origin, 0)).toBeDefined();
  });

  it("delays no other call during the insert, and is refused when all places are reserved", async () => {
    const ports = open();
    const deliverer = await startDeliverer(ports, { shortMax: 1 });

    expect(deliverer.local.reserve(aTenant, origin, 0)).toBeDefined();
    await publish(ports, ["a"]);
    expect(called(ports)).toEqual(["a"]);
    expect(deliverer.local.reserve(aTenant, originHash(elsewhere), 0)).toBeUndefined();
  });

  it("is given beside a backlog of the destination, and takes turns with its messages", async () => {
    const ports = open();
    const deliverer = await startDeliverer(ports, { perOriginMax: 3, shortMax: 1, waitingMax: 0 });
    await publish(ports, ["due 1", "due 2", "due 3", "due 4"]);
    const records = await reserved(ports, deliverer, ["new 1"]);
    for (const { run } of records) run();
    const rounds = ["due 1", "due 2", "new 1"];
    for (const name of rounds) await answer(ports, name);
    for (const { run } of await reserved(ports, deliverer, ["new 2"])) run();
    for (const name of ["due 3", "due 4"]) await answer(ports, name);

    expect(called(ports)).toEqual([...rounds, "due 3", "due 4", "new 2"]);
  });

  it("is waited for, in turn, while the process has no time to spare, and given when a call of the origin begins", async () => {
    const ports = open();
    const deliverer = await startDeliverer(ports, { perOriginMax: 1 }, { isBusy: () => true });
    await publish(ports, ["due"]);
    for (const { run } of await reserved(ports, deliverer, ["new"])) run();
    const ended: string[] = [];
    for (const name of ["first", "second"])
      void deliverer.local.waitForPlace(aTenant, origin, 0)?.then(() => ended.push(name));
    await rest(ports);
    expect(ended).toEqual([]);

    await answer(ports, "due");

    expect(called(ports)).toEqual(["due", "new"]);
    expect(ended).toEqual(["first"]);
  });

  it("is waited for 200 ms at most, and no longer once the deliverer stops", async () => {
    const ports = open();
    const deliverer = await startDeliverer(ports, { perOriginMax: 1 }, { isBusy: () => true });
    const ended: string[] = [];
    const wait = (name: string) =>
      void deliverer.local.waitForPlace(aTenant, origin, 0)?.then(() => ended.push(name));
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
    expect(deliverer.local.waitForPlace(aTenant, origin, 0)).toBeUndefined();
  });

  it("is not waited for while the process has time, nor by a heavy message", async () => {
    const ports = open();
    let isBusy = false;
    const deliverer = await startDeliverer(ports, {}, { isBusy: () => isBusy });

    expect(deliverer.local.waitForPlace(aTenant, origin, 0)).toBeUndefined();
    isBusy = true;
    expect(deliverer.local.waitForPlace(aTenant, origin, 100_000)).toBeUndefined();
    expect(deliverer.local.waitForPlace(aTenant, origin, 0)).toBeDefined();
  });

  it("waits for its call no longer than its turn, however many timers of its destination fall due at once", async () => {
    const ports = open();
    const deliverer = await startDeliverer(ports, { perOriginMax: 1 });
    const due = Array.from({ length: 1_500 }, (_, n) => `due ${n}`);
    await publish(ports, due);
    for (const { run } of await reserved(ports, deliverer, ["new"])) run();
    for (const name of ["due 0", "due 1"]) await answer(ports, name);

    expect(called(ports)).toEqual(["due 0", "due 1", "new"]);
  });

  it("takes its turn among tenants that wait for the slots of the process", async () => {
    const ports = open();
    const deliverer = await startDeliverer(ports, { shortMax: 1, waitingMax: 0 });
    await publish(ports, ["a"]);
    await publish(ports, ["other tenant"], { tenant: anotherTenant, url: elsewhere });
    for (const { run } of await reserved(ports, deliverer, ["new"])) run();
    for (const name of ["a", "other tenant"]) await answer(ports, name);

    expect(called(ports)).toEqual(["a", "other tenant", "new"]);
  });

  it("is refused to a heavy message that would have to wait for its slot", async () => {
    const ports = open();
    const deliverer = await startDeliverer(ports, { perOriginMax: 1 });
    const heavy = 100_000;
    placeOf(deliverer, heavy).release();
    await publish(ports, ["a"]);

    expect(deliverer.local.reserve(aTenant, origin, heavy)).toBeUndefined();
    expect(deliverer.local.reserve(aTenant, origin, 0)).toBeDefined();
  });

  it("is refused once the deliverer stops, and earlier reservations are given back", async () => {
    const ports = open();
    const deliverer = await startDeliverer(ports);
    const [late] = await reserved(ports, deliverer, ["late"]);
    const stopped = deliverer.stop();
    await rest(ports);
    late?.run();
    await stopped;
    await rest(ports);

    expect(deliverer.local.reserve(aTenant, origin, 0)).toBeUndefined();
    expect(called(ports)).toEqual([]);
    expect(late && (await stateOf(ports, late.record.message))).toBe("held");
  });

  it("goes to the first in line as soon as a call has ended, though its outcome is still being written", async () => {
    const ports = open();
    const settle: Records["settle"] = () => new Promise(() => undefined);
    const deliverer = await startDeliverer(withRecords(ports, { settle }), { perOriginMax: 2 });
    const records = await reserved(ports, deliverer, ["a", "b"]);
    await publish(ports, ["x", "y"]);
    for (const { run } of records) run();

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
    for (const { run } of records) run();
    expect(called(ports)).toEqual(["x", "y"]);

    for (const name of ["x", "y", "a"]) await answer(ports, name);

    expect(called(ports)).toEqual(["x", "y", "z", "a", "b"]);
  });

  it("is waited for under a lease that is renewed, and a cancelled one is not called", async () => {
    const ports = open();
    const deliverer = await startDeliverer(ports, { shortMax: 2, waitingMax: 0 });
    const records = await reserved(ports, deliverer, ["a", "b"]);
    await publish(ports, ["x", "y"]);
    for (const { run } of records) run();
    await ports.clock.advance(50_000);
    const [a, b] = records.map(({ record }) => record.message);
    if (a) await ports.records.cancel(aTenant, [a.id]);
    if (a) deliverer.local.abort(a.id);
    await answer(ports, "x");
    await answer(ports, "b");

    expect(called(ports)).toEqual(["x", "y", "b"]);
    expect(b && (await read(ports, b))).toMatchObject({ state: { kind: "delivered" }, epoch: 1 });
  });

  it("that is not free when the time to drain is up gives the claim back", async () => {
    const ports = open();
    const deliverer = await startDeliverer(ports, { shortMax: 1, waitingMax: 0 });
    const [waiting] = await reserved(ports, deliverer, ["a"]);
    await publish(ports, ["x"]);
    waiting?.run();
    const stopped = deliverer.stop();
    await ports.clock.advance(drainMs);
    await stopped;

    expect(called(ports)).toEqual(["x"]);
    expect(waiting && (await stateOf(ports, waiting.record.message))).toBe("held");
  });

  it("has its lease counted from before the insert, however long that took", async () => {
    const opened = open();
    const ports = withRecords(opened, { renew: () => Promise.reject(away) });
    const deliverer = await startDeliverer(ports);
    const message = aMessage({ id: ports.newId(), now: ports.clock.now(), ...named("slow") });
    const place = placeOf(deliverer);
    const record = acceptClaimed(message, place.owner, ports.clock.now());
    await ports.records.insert([{ record }], "new");
    await ports.clock.advance(21_000);
    place.run(record);
    await ports.clock.advance(3_999);
    expect(callOf(ports, "slow").aborted).toBe(false);
    await ports.clock.advance(1);

    expect(callOf(ports, "slow").aborted).toBe(true);
  });
});
