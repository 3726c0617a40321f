import { describe, expect, it } from "@jest/globals";
import {
  callbackId,
  failureCallbackId,
  type InState,
  limits,
  type Settlement,
  settleAttempt,
} from "@posthaste/domain";
import { StoreError } from "@posthaste/ports";
import { aCallbackPlan, anAnswer, anAttempt, aPolicy, aTenant } from "@posthaste/testing";
import { followUp, type FollowUpPorts, type Outbox, tellSettled } from "./follow-up.ts";
import { insertClaimed, listen, open, type Ports, read, readIn, rest } from "./opened.fixture.ts";

const policy = aPolicy({
  retriesMax: 0,
  callback: aCallbackPlan({ url: "https://callback.example/" }),
  failureCallback: aCallbackPlan({ url: "https://failure.example/" }),
});

/** A message whose only attempt has failed, and all that this causes. */
async function aFailure(
  ports: Ports,
): Promise<{ record: InState<"claimed">; settlement: Settlement; outbox: Outbox }> {
  const record = await insertClaimed(ports, { policy });
  const attempt = anAttempt(anAnswer(500, { body: "broken" }), { endedAt: ports.clock.now() });
  const settlement = settleAttempt(record, attempt, { chance: 0, retryDelayMs: undefined });
  await ports.messages.settle([settlement]);
  const { message, append } = settlement;
  return { record, settlement, outbox: { message, items: append } };
}

const steps = ["dead letter", "callbacks", "fact", "clear"] as const;
type Step = (typeof steps)[number];

/** Writes down the order of what is made safe; the step `away` is refused, as by a store or a bus that is away. */
function watched(ports: Ports, away?: Step): { ports: FollowUpPorts; done: string[] } {
  const done: string[] = [];
  const pass = async <T>(step: Step, names: readonly string[], call: () => Promise<T>) => {
    if (step === away) throw new StoreError("unavailable", `${step}: away`);
    const answer = await call();
    done.push(...names);
    return answer;
  };
  return {
    done,
    ports: {
      ...ports,
      messages: {
        ...ports.messages,
        insert: (inserts) =>
          pass(
            "callbacks",
            inserts.map(({ record }) => record.message.url),
            () => ports.messages.insert(inserts),
          ),
        clear: (items) =>
          pass(
            "clear",
            items.map(({ item }) => `clear ${item}`),
            () => ports.messages.clear(items),
          ),
      },
      deadLetters: {
        ...ports.deadLetters,
        insert: (letters) =>
          pass("dead letter", ["dead letter"], () => ports.deadLetters.insert(letters)),
      },
      bus: {
        ...ports.bus,
        publish: (topic, events) =>
          topic === "message.settled"
            ? pass("fact", ["fact"], () => ports.bus.publish(topic, events))
            : ports.bus.publish(topic, events),
      },
    },
  };
}

const cleared = ["clear deadLetter", "clear callback", "clear failureCallback", "clear fact"];
const page = { limit: 100, order: "earliestFirst" } as const;

describe("follow-ups", () => {
  it("are made safe in the order dead letter, callback, failure callback, fact, and only then cleared", async () => {
    const ports = open();
    const { outbox } = await aFailure(ports);
    const { ports: watching, done } = watched(ports);

    await followUp(watching, [outbox]);

    expect(done).toEqual([
      "dead letter",
      "https://callback.example/",
      "https://failure.example/",
      "fact",
      ...cleared,
    ]);
  });

  it("make the same things once when they are worked twice", async () => {
    const ports = open();
    const heard = await listen(ports);
    const { outbox } = await aFailure(ports);
    const { id } = outbox.message;

    await followUp(ports, [outbox]);
    await ports.clock.advance(10_000);
    await followUp(ports, [outbox]);
    await rest(ports);

    const made = [callbackId(id, 0), failureCallbackId(id)];
    expect(heard.due.map((hint) => hint.id)).toEqual(made);
    const { items } = await ports.deadLetters.list(aTenant, {}, page);
    expect(items.map(({ message }) => message.id)).toEqual([id]);
    for (const callback of made) await readIn(ports, { id: callback, tenant: aTenant }, "due");
  });

  it("leave the outbox empty, so that the record may go", async () => {
    const ports = open();
    const { outbox } = await aFailure(ports);
    expect(await read(ports, outbox.message)).toMatchObject({
      outbox: [{ kind: "callback" }, { kind: "failureCallback" }],
    });

    await followUp(ports, [outbox]);

    expect(await read(ports, outbox.message)).toMatchObject({ outbox: [], wakeAt: undefined });
  });

  it.each(steps.filter((step) => step !== "fact"))(
    "clear nothing when the %s cannot be written, and the alarm stays",
    async (away) => {
      const ports = open();
      const { outbox } = await aFailure(ports);
      const { ports: watching, done } = watched(ports, away);

      await expect(followUp(watching, [outbox])).rejects.toMatchObject({ code: "unavailable" });

      expect(done.filter((step) => step.startsWith("clear"))).toEqual([]);
      const record = await read(ports, outbox.message);
      expect(record?.outbox).toHaveLength(2);
      expect(record?.wakeAt).toBe(ports.clock.now() + limits.ringAheadMs);
    },
  );

  it("keep only the fact when the bus is away, and the alarm stays", async () => {
    const ports = open();
    const { outbox } = await aFailure(ports);
    const { ports: watching, done } = watched(ports, "fact");

    await expect(followUp(watching, [outbox])).rejects.toMatchObject({ code: "unavailable" });

    const cleared = done.filter((step) => step.startsWith("clear"));
    expect(cleared).toEqual(["clear deadLetter", "clear callback", "clear failureCallback"]);
  });

  it("are made by whoever comes next, when a first try got no further than the dead letter", async () => {
    const ports = open();
    const { outbox } = await aFailure(ports);
    await followUp(watched(ports, "callbacks").ports, [outbox]).catch(() => undefined);

    await followUp(ports, [outbox]);

    const { id } = outbox.message;
    await readIn(ports, { id: callbackId(id, 0), tenant: aTenant }, "due");
    expect((await read(ports, outbox.message))?.outbox).toEqual([]);
  });

  it("carry no body of the message in the fact", async () => {
    const ports = open();
    const heard = await listen(ports);
    const { outbox } = await aFailure(ports);

    await followUp(ports, [outbox]);

    expect(heard.settled.map(({ id }) => id)).toEqual([outbox.message.id]);
    expect(heard.settled[0]?.message).not.toHaveProperty("body");
  });

  it("of a delayed callback hold it until its time, counted from the attempt", async () => {
    const ports = open();
    const delayed = aPolicy({ callback: aCallbackPlan({ delayMs: 5_000 }) });
    const record = await insertClaimed(ports, { policy: delayed });
    const attempt = anAttempt(anAnswer(200), { endedAt: ports.clock.now() });
    const { append } = settleAttempt(record, attempt, { chance: 0, retryDelayMs: undefined });
    await ports.clock.advance(1_000);

    await followUp(ports, [{ message: record.message, items: append }]);

    const id = callbackId(record.message.id, 0);
    const held = await readIn(ports, { id, tenant: aTenant }, "held");
    expect(held.state.dueAt).toBe(attempt.endedAt + 5_000);
  });
});

describe("what the deliverer tells by itself", () => {
  it("is the dead letter, then the fact; callbacks stay in the outbox for their dispatcher", async () => {
    const ports = open();
    const { outbox, settlement } = await aFailure(ports);
    const { ports: watching, done } = watched(ports);
    const fact = settlement.append.find((item) => item.kind === "fact");

    await tellSettled(watching, { ...outbox, fact });

    expect(done).toEqual(["dead letter", "fact", "clear deadLetter", "clear fact"]);
    expect(await read(ports, outbox.message)).toMatchObject({
      outbox: [{ kind: "callback" }, { kind: "failureCallback" }],
    });
  });

  it("is heard also when the store has made the fact safe already, and then nothing is cleared", async () => {
    const ports = open();
    const { outbox, settlement } = await aFailure(ports);
    const { ports: watching, done } = watched(ports);
    const fact = settlement.append.find((item) => item.kind === "fact");
    const items = outbox.items.filter(({ kind }) => kind === "callback");

    await tellSettled(watching, { message: outbox.message, items, fact });

    expect(done).toEqual(["fact"]);
  });

  it("leaves the fact in the outbox when the bus is away", async () => {
    const ports = open();
    const { outbox, settlement } = await aFailure(ports);
    const { ports: watching, done } = watched(ports, "fact");
    const fact = settlement.append.find((item) => item.kind === "fact");

    await expect(tellSettled(watching, { ...outbox, fact })).rejects.toMatchObject({
      code: "unavailable",
    });

    expect(done).toEqual(["dead letter", "clear deadLetter"]);
  });
});
