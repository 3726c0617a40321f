/** A message of a queue whose turn follows the end of another. */
import { describe, expect, it } from "@jest/globals";
import { limits, queueId } from "@posthaste/domain";
import { type Queues, type Records, StoreError } from "@posthaste/ports";
import { aTenant, type MessageOverrides } from "@posthaste/testing";
import {
  answer,
  called,
  insert,
  named,
  open,
  type Ports,
  read,
  rest,
  startDeliverer,
  stateOf,
  tenantsWith,
  withRecords,
} from "../opened.fixture.ts";

describe("the next message of a queue", () => {
  const queue = queueId(aTenant, "orders");

  async function enqueue(ports: Ports, names: readonly string[], overrides: MessageOverrides = {}) {
    const messages = [];
    for (const name of names)
      messages.push(await insert(ports, { ...named(name), ...overrides, queue }));
    const [admitted] = await ports.queues.admit([queue]);
    await ports.bus.publish("message.due", admitted?.hints ?? []);
    await rest(ports);
    return messages;
  }

  function counted(ports: Ports): { readonly ports: Ports; readonly claims: () => number } {
    let claims = 0;
    const claim: Records["claim"] = (ids, owner) => {
      claims += ids.length;
      return ports.records.claim(ids, owner);
    };
    return { ports: withRecords(ports, { claim }), claims: () => claims };
  }

  /** Returns ports over which a look at a queue ends when the test says so. */
  function slowLook(ports: Ports): { readonly deliver: Ports; readonly look: () => void } {
    const { promise: looked, resolve: look } = Promise.withResolvers<void>();
    const admit: Queues["admit"] = async (ids, ending) => {
      const admitted = await ports.queues.admit(ids, ending);
      await looked;
      return admitted;
    };
    return { deliver: { ...ports, queues: { ...ports.queues, admit } }, look };
  }

  it("is called after the end of the one before, without a claim of its own", async () => {
    const { ports, claims } = counted(open());
    await startDeliverer(ports);
    await enqueue(ports, ["a", "b", "c"]);

    await answer(ports, "a");
    expect(called(ports)).toEqual(["a", "b"]);
    await answer(ports, "b");

    expect(called(ports)).toEqual(["a", "b", "c"]);
    expect(claims()).toBe(1);
  });

  it("is not called before the end of the one before is written", async () => {
    const ports = open();
    const { promise: written, resolve: write } = Promise.withResolvers<void>();
    const settle: Records["settle"] = async (settlements) => {
      const settled = await ports.records.settle(settlements);
      await written;
      return settled;
    };
    await startDeliverer(withRecords(ports, { settle }));
    await enqueue(ports, ["a", "b"]);

    await answer(ports, "a");
    expect(called(ports)).toEqual(["a"]);
    write();
    await rest(ports);

    expect(called(ports)).toEqual(["a", "b"]);
  });

  it("is left to its alarm where no look at the queue succeeds", async () => {
    const ports = open();
    const admit: Queues["admit"] = () => Promise.reject(new StoreError("unavailable", "away"));
    await startDeliverer({ ...ports, queues: { ...ports.queues, admit } });
    const [first, second] = await enqueue(ports, ["a", "b"]);

    await answer(ports, "a");

    expect(first && (await stateOf(ports, first))).toBe("delivered");
    expect(second && (await stateOf(ports, second))).toBe("queued");
    expect(ports.log.events()).toContain("turn.kept");
  });

  it("keeps its lease while its destination does not answer, however long the look took", async () => {
    const ports = open();
    const { deliver, look } = slowLook(ports);
    await startDeliverer(deliver);
    const [, second] = await enqueue(ports, ["a", "b"]);
    await answer(ports, "a");
    await ports.clock.advance(1_000);
    look();
    await rest(ports);

    await ports.clock.advance(3 * limits.leaseMs);

    const { state } = second ? await read(ports, second) : {};
    expect(state?.kind === "claimed" && state.leaseUntil).toBeGreaterThan(ports.clock.now());
  });

  it("is claimed by its hint where the calls of its tenant are capped", async () => {
    const { ports, claims } = counted({ ...open(), tenants: tenantsWith({ parallelismMax: 5 }) });
    await startDeliverer(ports);
    await enqueue(ports, ["a", "b"]);

    await answer(ports, "a");

    expect(called(ports)).toEqual(["a", "b"]);
    expect(claims()).toBe(2);
  });

  it("is given back by a deliverer that has begun to stop", async () => {
    const ports = open();
    const { deliver, look } = slowLook(ports);
    const deliverer = await startDeliverer(deliver);
    const [, second] = await enqueue(ports, ["a", "b"]);
    await answer(ports, "a");

    const stopped = deliverer.stop();
    await rest(ports);
    look();
    await stopped;

    expect(called(ports)).toEqual(["a"]);
    expect(second && (await stateOf(ports, second))).toBe("held");
  });
});
