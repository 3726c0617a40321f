import { describe, expect, it } from "@jest/globals";
import { callsOf, limits, tenantId } from "@posthaste/domain";
import { type Metrics, noMetrics, noTelemetry, type Reading } from "@posthaste/ports";
import { aTenant } from "@posthaste/testing";
import {
  answer,
  away,
  elsewhere,
  hint,
  insert,
  named,
  open,
  startDeliverer,
  tenantsWith,
} from "../opened.fixture.ts";

const other = tenantId("other");
const openCapped = () => ({ ...open(), tenants: tenantsWith({ parallelismMax: 2 }, aTenant) });

describe("a tenant with a cap", () => {
  it("has so many calls at once and no more, and the next when one has ended", async () => {
    const ports = openCapped();
    await startDeliverer(ports);
    const messages = [];
    for (const name of ["a", "b", "c", "d"]) messages.push(await insert(ports, named(name)));

    await hint(ports, messages);
    await ports.clock.advance(1_000);
    expect(ports.calls.map(({ body }) => body)).toEqual(["a", "b"]);

    await answer(ports, "a");
    expect(ports.calls).toHaveLength(3);
    await ports.clock.advance(60_000);
    expect(ports.calls).toHaveLength(3);
  });

  it("delays no tenant without a cap", async () => {
    const ports = openCapped();
    await startDeliverer(ports);
    const mine = [];
    for (const name of ["a", "b", "c"]) mine.push(await insert(ports, named(name)));
    const theirs = await insert(ports, { ...named("theirs"), tenant: other });

    await hint(ports, [...mine, theirs]);
    await ports.clock.advance(1_000);

    expect(ports.calls.map(({ body }) => body)).toContain("theirs");
    expect(ports.calls).toHaveLength(3);
  });

  it("shares the slots among all deliverers: slots of another deliverer are taken", async () => {
    const ports = openCapped();
    await startDeliverer(ports);
    const [mine, theirs] = [await insert(ports, named("a")), await insert(ports, named("b"))];
    const lane = callsOf(aTenant);
    await ports.tokens.restore(lane, [], undefined);
    const another = ports.newId();
    await ports.tokens.acquire(lane, [another], { parallelism: 2, periodMs: 1 });

    await hint(ports, [mine, theirs]);
    await ports.clock.advance(1_000);
    expect(ports.calls).toHaveLength(1);

    await ports.tokens.release(lane, [another]);
    await ports.clock.advance(1_000);
    expect(ports.calls).toHaveLength(2);
  });

  it("keeps the slots of its calls for as long as they last", async () => {
    const ports = openCapped();
    await startDeliverer(ports);
    const messages = [await insert(ports, named("a")), await insert(ports, named("b"))];
    await hint(ports, messages);

    await ports.clock.advance(3 * limits.leaseMs);

    expect((await ports.tokens.peek(callsOf(aTenant))).slots).toBe(2);
  });

  it("has no slot reserved for a published message, which goes through the line", async () => {
    const ports = openCapped();
    const deliverer = await startDeliverer(ports);

    expect(deliverer.local.reserve(aTenant, 1, 10)).toBeUndefined();
    expect(deliverer.local.reserve(other, 1, 10)).toBeDefined();
  });

  it("has its cap in each deliverer while the token store is away", async () => {
    const ports = openCapped();
    const fails = () => Promise.reject(away);
    const tokens = { ...ports.tokens, acquire: fails, release: fails };
    await startDeliverer({ ...ports, tokens });
    const messages = [];
    for (const name of ["a", "b", "c"]) messages.push(await insert(ports, named(name)));

    await hint(ports, messages);
    await ports.clock.advance(1_000);
    expect(ports.calls).toHaveLength(2);

    await answer(ports, "a");
    await ports.clock.advance(1_000);
    expect(ports.calls).toHaveLength(3);
  });

  it("is looked up before its first call", async () => {
    const ports = openCapped();
    let isFound = false;
    const tenants: typeof ports.tenants = {
      get: (id) => (isFound ? ports.tenants.get(id) : undefined),
      find: async (id) => {
        isFound = true;
        return ports.tenants.get(id);
      },
    };
    await startDeliverer({ ...ports, tenants });
    const messages = [];
    for (const name of ["a", "b", "c"]) messages.push(await insert(ports, named(name)));

    await hint(ports, messages);
    await ports.clock.advance(1_000);

    expect(ports.calls).toHaveLength(2);
  });

  it("gives back the slot of a message that another deliverer has claimed", async () => {
    const ports = openCapped();
    await startDeliverer(ports);
    const message = await insert(ports, named("a"));
    await ports.records.cancel(aTenant, [message.id]);

    await hint(ports, [message]);
    await ports.clock.advance(1_000);

    expect((await ports.tokens.peek(callsOf(aTenant))).slots).toBe(0);
  });
});

describe("a message that is told to wait for a slot", () => {
  const five = [1, 2, 3, 4, 5].map((n) => ({
    ...named(`${n}`),
    url: `https://host-${n}.example/hook`,
  }));
  const toOne = five.map((each) => ({ ...each, url: elsewhere }));

  it.each([
    ["is what has none while all are in use", five, { shortMax: 2, perOriginMax: 9 }, open, 3],
    [
      "is nothing that its destination holds back",
      toOne,
      { shortMax: 9, perOriginMax: 2 },
      open,
      0,
    ],
    ["is nothing that the plan of its tenant holds back", five, { shortMax: 9 }, openCapped, 0],
  ] as const)("%s", async (_, messages, slots, opened, expected) => {
    const ports = opened();
    const reads = new Map<string, () => Reading | Promise<Reading>>();
    const watch: Metrics["watch"] = (name, read) => void reads.set(name, read);
    const telemetry = { ...noTelemetry, metrics: { ...noMetrics, watch } };
    await startDeliverer({ ...ports, telemetry }, slots);
    const inserted = [];
    for (const each of messages) inserted.push(await insert(ports, each));

    await hint(ports, inserted);

    expect(ports.calls).toHaveLength(2);
    expect(await reads.get("posthaste_attempts_waiting")?.()).toBe(expected);
  });
});
