import { describe, expect, it } from "@jest/globals";
import { fault, isFault, type MessageId, type PublishCommand, allShards } from "@posthaste/domain";
import {
  type Groups,
  type Insert,
  type Records,
  StoreError,
  type TokenStore,
} from "@posthaste/ports";
import {
  aCommand,
  aRunId,
  aStartCommand,
  aStepCommand,
  aTenant,
  byKind,
  someEndpoints,
} from "@posthaste/testing";
import { type RunPorts } from "../runs/start.ts";
import { type Published } from "./accept.ts";
import {
  aLocalDelivery,
  childrenIn,
  listen,
  open,
  type Ports,
  read,
  rest,
} from "../opened.fixture.ts";
import { publish, publishMany } from "./intake.ts";
import { type PublishOutcome } from "./publish-portion.ts";

const to = (path: string, overrides: Partial<PublishCommand> = {}): PublishCommand =>
  aCommand({
    destination: { kind: "url", url: `https://destination.example/${path}` },
    ...overrides,
  });
const many = (count: number, overrides: (i: number) => Partial<PublishCommand> = () => ({})) =>
  Array.from({ length: count }, (_, i) => to(String(i), overrides(i)));
const toGroup = (name: string, overrides: Partial<PublishCommand> = {}): PublishCommand =>
  aCommand({ destination: { kind: "group", name }, ...overrides });
const once = (id: string): Partial<PublishCommand> => ({ deduplication: { kind: "explicit", id } });

async function outcomesOf(
  ports: RunPorts,
  commands: readonly PublishCommand[],
): Promise<readonly PublishOutcome[]> {
  const outcomes = await publishMany(ports, commands);
  if ("fault" in outcomes || "refused" in outcomes) throw new Error(JSON.stringify(outcomes));
  return outcomes;
}

async function childrenOfGroup(ports: Ports, outcome: PublishOutcome | undefined) {
  if (!outcome || !("group" in outcome)) throw new Error(JSON.stringify(outcome));
  return childrenIn(ports, outcome);
}

function published(outcome: PublishOutcome | undefined): Published {
  if (!outcome || !("messageId" in outcome)) throw new Error(JSON.stringify(outcome));
  return outcome;
}
const idOf = (outcome: PublishOutcome | undefined): MessageId => published(outcome).messageId;
const urlOf = ({ destination }: PublishCommand) =>
  destination.kind === "url" ? destination.url : destination.name;
const isDuplicate = (outcome: PublishOutcome): unknown =>
  "deduplicated" in outcome && outcome.deduplicated;

/** Records the keys of each claim and the ids of each insert, in order. */
function watched(ports: Ports, failFrom = Infinity) {
  const asked: { claimed?: number; inserted?: readonly Insert[] }[] = [];
  let inserts = 0;
  const records: Records = {
    ...ports.records,
    insert: (given, intake) => {
      asked.push({ inserted: given });
      if (inserts++ >= failFrom) return Promise.reject(new StoreError("unavailable", "away"));
      return ports.records.insert(given, intake);
    },
  };
  const tokens: TokenStore = {
    ...ports.tokens,
    claim: (entries) => {
      asked.push({ claimed: entries.length });
      return ports.tokens.claim(entries);
    },
    confirm: (entries) => ports.tokens.confirm(entries),
  };
  const all: RunPorts = { ...ports, records, tokens };
  return { ports: all, asked };
}
const inserted = (asked: ReturnType<typeof watched>["asked"]): readonly number[] =>
  asked.flatMap((each) => (each.inserted ? each.inserted.length : []));

describe("many publishes", () => {
  it("are answered each, in their order, with records that are there", async () => {
    const ports = open();

    const outcomes = await outcomesOf(ports, many(3));

    expect(outcomes).toMatchObject(
      [0, 1, 2].map((i) => ({ url: `https://destination.example/${i}`, deduplicated: false })),
    );
    for (const outcome of outcomes) {
      const record = await read(ports, { id: idOf(outcome), tenant: aTenant });
      expect(record?.message.url).toBe(published(outcome).url);
    }
  });

  it("have no outcomes if there are none", async () => {
    expect(await outcomesOf(open(), [])).toEqual([]);
  });

  it("are inserted 256 at a time, in their order, and each portion's keys are claimed right before it", async () => {
    const { ports, asked } = watched(open());

    await outcomesOf(
      ports,
      many(600, (i) => once(String(i))),
    );

    expect(asked.map(({ claimed, inserted: some }) => claimed ?? `insert ${some?.length}`)).toEqual(
      [256, "insert 256", 256, "insert 256", 88, "insert 88"],
    );
    const urls = asked
      .flatMap((each) => each.inserted ?? [])
      .map(({ record }) => record.message.url);
    expect(urls).toEqual(many(600).map(urlOf));
  });

  it("with large bodies are inserted fewer at a time, one at least", async () => {
    const { ports, asked } = watched(open());
    const sizes = [3, 3, 1, 1, 9, 1];

    await outcomesOf(
      ports,
      many(sizes.length, (i) => ({ body: new Uint8Array((sizes[i] ?? 0) * 1024 * 1024) })),
    );

    expect(inserted(asked)).toEqual([1, 2, 1, 1, 1]);
  });

  it("claim the free slots of this process, run their messages, and announce the others", async () => {
    const ports = open();
    const heard = await listen(ports);
    const local = aLocalDelivery(2);

    const outcomes = await outcomesOf({ ...ports, local }, many(5));
    await rest(ports);

    expect(local.ran.map(({ message }) => message.id)).toEqual(outcomes.slice(0, 2).map(idOf));
    expect(heard.due.map(({ id }) => id)).toEqual(outcomes.slice(2).map(idOf));
  });

  it("give back the slots of messages that were not inserted", async () => {
    const { ports } = watched(open(), 0);
    const local = aLocalDelivery(3);
    const withLocal = { ...ports, local };

    await expect(publishMany(withLocal, many(5))).rejects.toThrow("away");

    expect(local.taken).toBe(0);
  });
});

describe("equal deduplication keys in one batch", () => {
  it("make one message, and the others are its duplicates, also in another portion", async () => {
    const { ports, asked } = watched(open());
    const commands = many(300, (i) => once(i % 150 === 7 ? "same" : String(i)));

    const outcomes = await outcomesOf(ports, commands);

    const same = outcomes.filter((_, i) => i % 150 === 7);
    expect(new Set(same.map(idOf)).size).toBe(1);
    expect(same.map(isDuplicate)).toEqual([false, true]);
    expect(inserted(asked)).toEqual([255, 44]);
  });

  it("of an earlier publish make none, and say its id", async () => {
    const ports = open();
    const [earlier] = await outcomesOf(ports, [to("a", once("k"))]);

    const outcomes = await outcomesOf(ports, [to("b", once("k")), to("c"), to("d", once("k"))]);

    expect(outcomes.map(isDuplicate)).toEqual([true, false, true]);
    expect([outcomes[0], outcomes[2]].map(idOf)).toEqual([idOf(earlier), idOf(earlier)]);
  });
});

describe("groups in a batch", () => {
  const endpoints = someEndpoints(3);
  async function opened() {
    const all = open();
    await all.groups.replace(aTenant, "g", undefined, endpoints, "new");
    return all;
  }

  it("have an array each, and their place among the others", async () => {
    const stored = await opened();
    const { ports, asked } = watched(stored);

    const outcomes = await outcomesOf(ports, [to("a"), toGroup("g"), to("b")]);

    expect(await childrenOfGroup(stored, outcomes[1])).toMatchObject(
      endpoints.map(({ url }) => ({ url, deduplicated: false })),
    );
    expect(inserted(asked)).toEqual([2]);
    const { fanOuts } = byKind(await stored.alarms.ring(allShards, 10));
    expect(fanOuts).toHaveLength(1);
  });

  it("with deduplication are portions of their own, and equal ones are their duplicates", async () => {
    const stored = await opened();
    const { ports, asked } = watched(stored);

    const outcomes = await outcomesOf(ports, [
      to("a"),
      toGroup("g", once("k")),
      toGroup("g", once("k")),
      to("b"),
    ]);

    expect(inserted(asked)).toEqual([1, 1]);
    const [, first, second] = outcomes;
    expect(await childrenOfGroup(stored, second)).toEqual(
      (await childrenOfGroup(stored, first)).map((each) => ({ ...each, deduplicated: true })),
    );
    expect([first, second]).toMatchObject([{ duplicates: 0 }, { duplicates: 3 }]);
  });

  it("that are not there refuse the whole batch: nothing is stored", async () => {
    const { ports, asked } = watched(await opened());

    const refused = await publishMany(ports, [...many(300), toGroup("g"), toGroup("nobody's")]);

    expect(refused).toEqual({
      refused: { fault: "not_found", text: "topic nobody's not found" },
      index: 301,
      field: "destination",
    });
    expect(asked).toEqual([]);
  });

  it("are looked for once each", async () => {
    const ports = await opened();
    let looked = 0;
    const groups: Groups = {
      ...ports.groups,
      get: (tenant, name) => {
        looked++;
        return ports.groups.get(tenant, name);
      },
    };

    await outcomesOf(
      { ...ports, groups },
      Array.from({ length: 50 }, () => toGroup("g")),
    );

    expect(looked).toBe(1);
  });

  it("may not make more messages than an answer can list", async () => {
    const { ports, asked } = watched(open());
    await ports.groups.replace(aTenant, "large", undefined, someEndpoints(10_000), "new");

    const refused = await publishMany(
      ports,
      Array.from({ length: 11 }, () => toGroup("large")),
    );

    expect(refused).toMatchObject({ refused: { fault: "beyond_plan" }, index: 10 });
    expect(asked).toEqual([]);
  });
});

describe("the quota of a batch", () => {
  it("is spent once, for all its messages and queues, before anything is stored", async () => {
    const { ports, asked } = watched(open());
    await ports.groups.replace(aTenant, "g", undefined, someEndpoints(3), "new");
    const needs: unknown[] = [];
    const commands = ["a", "b", "a", "c"].map((queue) => to("q", { queue }));

    await publishMany(ports, [...commands, to("x"), toGroup("g", { queue: "d" })], async (need) => {
      needs.push(need);
      expect(asked).toEqual([]);
      return undefined;
    });

    expect(needs).toEqual([{ messages: 8, queues: ["a", "b", "c", "d"] }]);
  });

  it("is spent when all groups are found", async () => {
    const { ports } = watched(open());
    let asked = 0;

    await publishMany(ports, [to("a"), toGroup("nobody's")], async () => void asked++);

    expect(asked).toBe(0);
  });

  it("that is not there refuses all of it, by the first item of the queue", async () => {
    const { ports, asked } = watched(open());
    const refused = fault("beyond_plan", "quota maxQueues exceeded");
    const commands = ["a", "b", "a", "c", "d", "c"].map((queue) => to("q", { queue }));

    expect(await publishMany(ports, commands, async () => ({ refused, queue: "c" }))).toEqual({
      refused,
      index: 3,
      field: "queue",
    });
    expect(await publishMany(ports, commands, async () => ({ refused }))).toEqual(refused);
    expect(asked).toEqual([]);
  });
});

describe("a publish to a URL", () => {
  it("is inserted before the call returns, where the quota is known at once", () => {
    const { ports, asked } = watched(open());

    void publish(ports, to("a"));

    expect(inserted(asked)).toEqual([1]);
  });

  it("waits for the quota, and is not inserted if that is used up", async () => {
    const { ports, asked } = watched(open());
    const refused = fault("beyond_plan", "quota maxQueues exceeded");
    const needs: unknown[] = [];

    const answer = await publish(ports, to("a", { queue: "q" }), async (need) => {
      needs.push(need);
      return { refused, queue: "q" };
    });

    expect(answer).toBe(refused);
    expect(needs).toEqual([{ messages: 1, queues: ["q"] }]);
    expect(asked).toEqual([]);
  });
});

describe("publishes for runs", () => {
  const full = fault("too_many_requests", "quota maxBacklog exceeded");
  const refusal = async () => ({ refused: full });

  it("that start runs are refused if the quota does not suffice for all of them", async () => {
    const ports = open();
    const start = aStartCommand();

    expect(await publish(ports, start, refusal)).toBe(full);
    expect(await publishMany(ports, [start, start], refusal)).toBe(full);
    expect(await ports.runs.get({ tenant: aTenant, id: aRunId })).toBeUndefined();
  });

  it("that belong to a run are accepted when the quota is used up", async () => {
    const ports = open();
    await publish(ports, aStartCommand());

    const step = await publish(ports, aStepCommand({ role: "result", step: 1 }), refusal);
    const next = [aStepCommand({ role: "result", step: 2 })];

    expect(step).toMatchObject({ deduplicated: false, run: { id: aRunId } });
    expect(await publishMany(ports, next, refusal)).toMatchObject([{ deduplicated: false }]);
  });

  it("that are mixed with messages are refused before any of them is published", async () => {
    const { ports, asked } = watched(open());

    const refused = await publishMany(ports, [to("a"), aStartCommand()]);

    expect(refused).toMatchObject({ refused: { fault: "malformed" }, index: 1 });
    expect(asked).toEqual([]);
  });
});

describe("a store that goes away in between", () => {
  it("leaves earlier stored messages answered, and names the unknown and the untried ones", async () => {
    const { ports, asked } = watched(open(), 1);

    const outcomes = await outcomesOf(ports, many(600));

    const texts = outcomes.map((outcome) => (isFault(outcome) ? outcome.text : "stored"));
    expect(texts.slice(0, 256)).toEqual(Array(256).fill("stored"));
    expect(new Set(texts.slice(256, 512))).toEqual(
      new Set(["the store does not answer: this may have happened or not"]),
    );
    expect(new Set(texts.slice(512))).toEqual(
      new Set(["not accepted: the batch ended before this part"]),
    );
    expect(inserted(asked)).toEqual([256, 256]);
    const [first] = outcomes;
    expect(await read(ports, { id: idOf(first), tenant: aTenant })).toBeDefined();
  });

  it("at the first portion rejects, as a publish does", async () => {
    const { ports } = watched(open(), 0);

    await expect(publishMany(ports, many(600))).rejects.toThrow("away");
  });
});
