import { describe, expect, it } from "@jest/globals";
import {
  callbackId,
  failureCallbackId,
  type FollowUp,
  type InState,
  limits,
  ownFormat,
  type Settlement,
  settleAttempt,
} from "@posthaste/domain";
import { StoreError } from "@posthaste/ports";
import { aCallbackPlan, anAnswer, anAttempt, aPolicy, aTenant } from "@posthaste/testing";
import { followUp, type FollowUpPorts, type Outbox, reportSettled } from "./follow-up.ts";
import { insertClaimed, listen, open, type Ports, read, readIn, rest } from "../opened.fixture.ts";

const policy = aPolicy({
  retriesMax: 0,
  callback: aCallbackPlan({ url: "https://callback.example/" }),
  failureCallback: aCallbackPlan({ url: "https://failure.example/" }),
});

/** Inserts a message whose only attempt has failed, and returns all that this causes. */
async function aFailure(
  ports: Ports,
): Promise<{ record: InState<"claimed">; settlement: Settlement; owed: Outbox }> {
  const record = await insertClaimed(ports, { policy });
  const attempt = anAttempt(anAnswer(500, { body: "broken" }), { endedAt: ports.clock.now() });
  const settlement = settleAttempt(record, attempt, { chance: 0, retryDelayMs: undefined });
  await ports.records.settle([settlement]);
  const { message, append } = settlement;
  return { record, settlement, owed: { message, outbox: append } };
}

type Step = "dead letter" | "callbacks" | "fact" | "clear";

/** Records the order in which items are made safe. The step `away` is refused, as by a store or a bus that is away. */
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
      records: {
        ...ports.records,
        insert: (inserts, intake) =>
          pass(
            "callbacks",
            inserts.map(({ record }) => record.message.url),
            () => ports.records.insert(inserts, intake),
          ),
        clear: (items) =>
          pass(
            "clear",
            items.map(({ item }) => `clear ${item}`),
            () => ports.records.clear(items),
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

/** An item as a newer build would store it. */
const anUnknownItem: unknown = { kind: "turnOver", attempt: 0, format: ownFormat + 1 };
const asStored = (item: unknown): item is FollowUp & { readonly format: number } =>
  typeof item === "object";

const cleared = ["clear deadLetter", "clear callback", "clear failureCallback", "clear fact"];
const page = { limit: 100, order: "earliestFirst" } as const;

describe("follow-ups", () => {
  it("are made safe in the order dead letter, callback, failure callback, fact, and only then cleared", async () => {
    const ports = open();
    const { owed } = await aFailure(ports);
    const { ports: watching, done } = watched(ports);

    await followUp(watching, [owed]);

    expect(done).toEqual([
      "dead letter",
      "https://callback.example/",
      "https://failure.example/",
      "fact",
      ...cleared,
    ]);
  });

  it("make the same messages once when they are worked twice", async () => {
    const ports = open();
    const heard = await listen(ports);
    const { owed } = await aFailure(ports);
    const { id } = owed.message;

    await followUp(ports, [owed]);
    await ports.clock.advance(10_000);
    await followUp(ports, [owed]);
    await rest(ports);

    const made = [callbackId(id, 0), failureCallbackId(id)];
    expect(heard.due.map((hint) => hint.id)).toEqual(made);
    const { items } = await ports.deadLetters.list(aTenant, {}, page);
    expect(items.map(({ message }) => message.id)).toEqual([id]);
    for (const callback of made) await readIn(ports, { id: callback, tenant: aTenant }, "due");
  });

  it("leave the outbox empty, so that the record may go", async () => {
    const ports = open();
    const { owed } = await aFailure(ports);
    expect(await read(ports, owed.message)).toMatchObject({
      outbox: [{ kind: "callback" }, { kind: "failureCallback" }],
    });

    await followUp(ports, [owed]);

    expect(await read(ports, owed.message)).toMatchObject({ outbox: [], wakeAt: undefined });
  });

  it.each([
    { away: "dead letter", safe: [] },
    { away: "callbacks", safe: ["clear deadLetter"] },
    { away: "clear", safe: [] },
  ] as const)(
    "clear only what is safe when the $away cannot be written, and the alarm stays",
    async ({ away, safe }) => {
      const ports = open();
      const { owed } = await aFailure(ports);
      const { ports: watching, done } = watched(ports, away);

      await expect(followUp(watching, [owed])).rejects.toMatchObject({ code: "unavailable" });

      expect(done.filter((step) => step.startsWith("clear"))).toEqual(safe);
      const record = await read(ports, owed.message);
      expect(record?.outbox).toHaveLength(2);
      expect(record?.wakeAt).toBe(ports.clock.now() + limits.ringAheadMs);
    },
  );

  it("keep only the fact when the bus is away, and the alarm stays", async () => {
    const ports = open();
    const { owed } = await aFailure(ports);
    const { ports: watching, done } = watched(ports, "fact");

    await expect(followUp(watching, [owed])).rejects.toMatchObject({ code: "unavailable" });

    const cleared = done.filter((step) => step.startsWith("clear"));
    expect(cleared).toEqual(["clear deadLetter", "clear callback", "clear failureCallback"]);
  });

  it("are made by the next worker, when a first try got no further than the dead letter", async () => {
    const ports = open();
    const { owed } = await aFailure(ports);
    await followUp(watched(ports, "callbacks").ports, [owed]).catch(() => undefined);

    await followUp(ports, [owed]);

    const { id } = owed.message;
    await readIn(ports, { id: callbackId(id, 0), tenant: aTenant }, "due");
    expect((await read(ports, owed.message))?.outbox).toEqual([]);
  });

  it("that this build does not know are left where they are, and the others are worked", async () => {
    const ports = open();
    const { owed } = await aFailure(ports);
    const newer = [
      ...owed.outbox.map((item) => ({ ...item, attempt: 1, format: ownFormat + 1 })),
      ...[anUnknownItem].filter(asStored),
    ];
    const { ports: watching, done } = watched(ports);

    await followUp(watching, [{ message: owed.message, outbox: [...owed.outbox, ...newer] }]);
    await followUp(watching, [{ message: owed.message, outbox: newer }]);

    expect(done).toEqual([
      "dead letter",
      "https://callback.example/",
      "https://failure.example/",
      "fact",
      ...cleared,
    ]);
    expect(ports.log.lines.filter(({ event }) => event === "follow-up.not_understood")).toEqual(
      newer.map(({ kind, format }) =>
        expect.objectContaining({ fields: { id: owed.message.id, kind, format } }),
      ),
    );
  });

  it("carry no body of the message in the fact", async () => {
    const ports = open();
    const heard = await listen(ports);
    const { owed } = await aFailure(ports);

    await followUp(ports, [owed]);

    expect(heard.settled.map(({ id }) => id)).toEqual([owed.message.id]);
    expect(heard.settled[0]?.message).not.toHaveProperty("body");
  });

  it("of a delayed callback hold it until its time, counted from the attempt", async () => {
    const ports = open();
    const delayed = aPolicy({ callback: aCallbackPlan({ delayMs: 5_000 }) });
    const record = await insertClaimed(ports, { policy: delayed });
    const attempt = anAttempt(anAnswer(200), { endedAt: ports.clock.now() });
    const { append } = settleAttempt(record, attempt, { chance: 0, retryDelayMs: undefined });
    await ports.clock.advance(1_000);

    await followUp(ports, [{ message: record.message, outbox: append }]);

    const id = callbackId(record.message.id, 0);
    const held = await readIn(ports, { id, tenant: aTenant }, "held");
    expect(held.state.dueAt).toBe(attempt.endedAt + 5_000);
  });
});

describe("events that the deliverer publishes by itself", () => {
  it("is the dead letter, then the fact; callbacks stay in the outbox for their dispatcher", async () => {
    const ports = open();
    const { owed, settlement } = await aFailure(ports);
    const { ports: watching, done } = watched(ports);
    const fact = settlement.append.find((item) => item.kind === "fact");

    await reportSettled(watching, { ...owed, fact });

    expect(done).toEqual(["dead letter", "fact", "clear deadLetter", "clear fact"]);
    expect(await read(ports, owed.message)).toMatchObject({
      outbox: [{ kind: "callback" }, { kind: "failureCallback" }],
    });
  });

  it("are published also when the store has made the fact safe already, and then nothing is cleared", async () => {
    const ports = open();
    const { owed, settlement } = await aFailure(ports);
    const { ports: watching, done } = watched(ports);
    const fact = settlement.append.find((item) => item.kind === "fact");
    const items = owed.outbox.filter(({ kind }) => kind === "callback");

    await reportSettled(watching, { message: owed.message, outbox: items, fact });

    expect(done).toEqual(["fact"]);
  });

  it.each([
    { bus: "is known to be away", isUp: false, first: [] },
    { bus: "does not take the fact", isUp: true, first: ["dead letter", "clear deadLetter"] },
  ])(
    "include the whole outbox except the fact when the bus $bus: no dispatcher receives it",
    async ({ isUp, first }) => {
      const ports = open();
      const { owed, settlement } = await aFailure(ports);
      const { ports: watching, done } = watched(ports, "fact");
      const fact = settlement.append.find((item) => item.kind === "fact");
      const bus = { ...watching.bus, isUp: () => isUp };

      await reportSettled({ ...watching, bus }, { ...owed, fact }).catch(() => undefined);

      expect(done).toEqual([
        ...first,
        "dead letter",
        "https://callback.example/",
        "https://failure.example/",
        ...cleared.filter((step) => step !== "clear fact"),
      ]);
    },
  );

  it("is not tried again for a fact alone", async () => {
    const ports = open();
    const { owed, settlement } = await aFailure(ports);
    const { ports: watching, done } = watched(ports, "fact");
    const fact = settlement.append.find((item) => item.kind === "fact");
    const items = owed.outbox.filter(({ kind }) => kind === "fact" || kind === "deadLetter");

    await expect(
      reportSettled(watching, { message: owed.message, outbox: items, fact }),
    ).rejects.toMatchObject({ code: "unavailable" });

    expect(done).toEqual(["dead letter", "clear deadLetter"]);
  });
});
