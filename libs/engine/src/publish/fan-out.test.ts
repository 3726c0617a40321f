import { describe, expect, it } from "@jest/globals";
import {
  allShards,
  childId,
  defaultPlan,
  isFault,
  limits,
  type MessageId,
  parentOf,
  type PublishCommand,
  shardOf,
} from "@posthaste/domain";
import { type Records, type FanOuts } from "@posthaste/ports";
import {
  aCommand,
  anEndpoint,
  anotherTenant,
  aTenant,
  someEndpoints,
  byKind,
} from "@posthaste/testing";
import { type Published } from "./accept.ts";
import { cancelMessages } from "../bulk/cancel.ts";
import { expandStored } from "./fan-out.ts";
import { childrenIn, listen, open, type Ports, readIn, rest } from "../opened.fixture.ts";
import { publish } from "./intake.ts";
import { readMessage } from "../read.ts";
import { addToGroup, removeFromGroup } from "./url-groups.ts";

const name = "g";
const toGroup = (overrides: Partial<PublishCommand> = {}): PublishCommand =>
  aCommand({ destination: { kind: "group", name }, ...overrides });

async function openWithGroup(endpoints: number): Promise<Ports> {
  const ports = open();
  await addToGroup(ports.groups, aTenant, name, someEndpoints(endpoints), defaultPlan);
  return ports;
}

/** Records how many chunks are asked for at a time. */
function watchedGroup(ports: Ports): { readonly ports: Ports; readonly chunks: number[] } {
  const chunks: number[] = [];
  const endpoints: Ports["groups"]["endpoints"] = (tenant, asked) => {
    chunks.push(asked.length);
    return ports.groups.endpoints(tenant, asked);
  };
  return { ports: { ...ports, groups: { ...ports.groups, endpoints } }, chunks };
}

async function publishAll(ports: Ports, command = toGroup()): Promise<readonly Published[]> {
  const answer = await publish(ports, command);
  if (isFault(answer) || "messageId" in answer)
    throw new Error("a group publish has one answer per endpoint");
  return childrenIn(ports, answer);
}

function parentIdOf([first]: readonly Published[]): MessageId {
  const named = first && parentOf(first.messageId);
  if (!named) throw new Error("a child's id names its parent");
  return named.parent;
}

async function stateOfFanOut({ fanOuts }: Ports, id: MessageId): Promise<string | undefined> {
  const [fanOut] = await fanOuts.get(aTenant, [id]);
  return fanOut?.state.kind;
}

async function expandFromStore(ports: Ports): Promise<void> {
  const { fanOuts } = byKind(await ports.alarms.ring(allShards, 100));
  for (const { id, tenant } of fanOuts) await expandStored(ports, tenant, id);
}

const idsOf = (published: readonly Published[]): readonly MessageId[] =>
  published.map(({ messageId }) => messageId);

async function madeOf(ports: Ports, ids: readonly MessageId[]): Promise<readonly MessageId[]> {
  const records = await ports.records.get(aTenant, ids);
  return records.flatMap((record) => (record ? [record.message.id] : []));
}

describe("a publish to a group", () => {
  it("does not read its endpoints, and for its answer a chunk at a time", async () => {
    const { ports, chunks } = watchedGroup(await openWithGroup(1_200));

    const published = await publish(ports, toGroup());
    if (isFault(published) || "messageId" in published) throw new Error("a group");

    expect(chunks).toEqual([]);
    expect(await childrenIn(ports, published)).toHaveLength(1_200);
    expect(chunks).toEqual([1, 1, 1]);
  });

  it("with deduplication reads a chunk at a time for their keys", async () => {
    const { ports, chunks } = watchedGroup(await openWithGroup(1_200));

    await publish(ports, toGroup({ deduplication: { kind: "content" } }));

    expect(chunks).toEqual([1, 1, 1]);
  });
});

describe("publishing to a group", () => {
  it("is answered as not found if the group does not exist", async () => {
    expect(await publish(open(), toGroup())).toMatchObject({ fault: "not_found" });
  });

  it("answers with the id of each endpoint's message before any of them exists", async () => {
    const ports = await openWithGroup(3);
    const heard = await listen(ports);

    const published = await publishAll(ports);
    await rest(ports);

    const parent = parentIdOf(published);
    expect(published.map(({ messageId, url }) => [messageId, url])).toEqual(
      someEndpoints(3).map(({ url }, index) => [childId(parent, index), url]),
    );
    expect(await madeOf(ports, idsOf(published))).toEqual([]);
    expect(heard.wakes).toEqual([
      { shard: shardOf(parent), at: ports.clock.now(), source: "fanOut" },
    ]);
  });

  it("makes each child once, hints it, and ends the parent", async () => {
    const ports = await openWithGroup(3);
    const heard = await listen(ports);
    const published = await publishAll(ports);

    await expandFromStore(ports);
    await rest(ports);

    for (const { messageId, url } of published) {
      const { message } = await readIn(ports, { id: messageId, tenant: aTenant }, "due");
      expect(message).toMatchObject({ url, body: aCommand().body });
    }
    expect(heard.due.map(({ id }) => id)).toEqual(idsOf(published));
    expect(await stateOfFanOut(ports, parentIdOf(published))).toBe("expanded");
  });

  it("goes to the endpoints that were in the group when it was published, even if the group changes", async () => {
    const ports = await openWithGroup(2);
    const published = await publishAll(ports);

    await removeFromGroup(ports.groups, aTenant, name, [{ url: anEndpoint(0).url }]);
    await addToGroup(ports.groups, aTenant, name, [anEndpoint(7)], defaultPlan);
    await ports.clock.advance(120_000);
    await ports.groups.sweep(1_000);
    await expandFromStore(ports);

    const made = await ports.records.get(aTenant, idsOf(published));
    expect(made.map((record) => record?.message.url)).toEqual([
      anEndpoint(0).url,
      anEndpoint(1).url,
    ]);
  });

  it("makes no message for an endpoint that was found duplicate", async () => {
    const ports = await openWithGroup(1);
    const once = toGroup({ deduplication: { kind: "explicit", id: "a" } });
    await publishAll(ports, once);
    await expandFromStore(ports);
    await addToGroup(ports.groups, aTenant, name, [anEndpoint(1)], defaultPlan);

    const [duplicate, fresh] = await publishAll(ports, once);
    const parent = parentIdOf(fresh ? [fresh] : []);
    expect(await readMessage(ports, aTenant, childId(parent, 0))).toBeUndefined();
    await expandFromStore(ports);

    expect(duplicate?.deduplicated).toBe(true);
    expect(await madeOf(ports, [childId(parent, 0), childId(parent, 1)])).toEqual([
      childId(parent, 1),
    ]);
  });
});

describe("an expansion that is cut off", () => {
  const endpoints = 1_201;
  const dies = new Error("the process has died");

  /** Runs until the call numbered `at`, which either is not made, or is made and its answer lost. */
  function dyingAt(ports: Ports, at: number, when: "before" | "after"): Ports {
    let calls = 0;
    const orDie = async <T>(call: () => Promise<T>): Promise<T> => {
      const last = calls++ === at;
      if (last && when === "before") throw dies;
      const answer = await call();
      if (last) throw dies;
      return answer;
    };
    const records: Records = {
      ...ports.records,
      insert: (inserts, intake) => orDie(() => ports.records.insert(inserts, intake)),
    };
    const fanOuts: FanOuts = {
      ...ports.fanOuts,
      advance: (...args) => orDie(() => ports.fanOuts.advance(...args)),
    };
    return { ...ports, records, fanOuts };
  }

  const cuts = [0, 1, 2, 3, 4, 5].flatMap((at) =>
    (["before", "after"] as const).map((when) => ({ at, when })),
  );

  it.each(cuts)(
    "goes on where it was and makes every child once, when it ended $when its step $at",
    async ({ at, when }) => {
      const ports = await openWithGroup(endpoints);
      const published = await publishAll(ports);
      const parent = parentIdOf(published);
      const inserted: string[] = [];
      const counted: Records["insert"] = async (inserts, intake) => {
        const answers = await ports.records.insert(inserts, intake);
        answers.forEach((answer, i) => {
          const id = inserts[i]?.record.message.id;
          if (answer === "inserted" && id !== undefined) inserted.push(id);
        });
        return answers;
      };
      const counting = { ...ports, records: { ...ports.records, insert: counted } };

      await expect(expandStored(dyingAt(counting, at, when), aTenant, parent)).rejects.toBe(dies);
      await ports.clock.advance(30_000);
      await expandFromStore(counting);

      expect(inserted.toSorted()).toEqual([...idsOf(published)].toSorted());
      expect(await stateOfFanOut(ports, parent)).toBe("expanded");
    },
  );

  it("goes no further when the parent has ended meanwhile", async () => {
    const ports = await openWithGroup(endpoints);
    const published = await publishAll(ports);
    const parent = parentIdOf(published);
    const insert: Records["insert"] = async (inserts, intake) => {
      const answers = await ports.records.insert(inserts, intake);
      await ports.fanOuts.advance(parent, 0, limits.expansionBatchMax, true);
      return answers;
    };

    const cut = { ...ports, records: { ...ports.records, insert } };
    await expandStored(cut, aTenant, parent);

    expect(await madeOf(ports, idsOf(published))).toHaveLength(limits.expansionBatchMax);
  });

  it("does no harm when two expand the same parent at once", async () => {
    const ports = await openWithGroup(endpoints);
    const heard = await listen(ports);
    const published = await publishAll(ports);
    const parent = parentIdOf(published);

    await Promise.all([expandStored(ports, aTenant, parent), expandStored(ports, aTenant, parent)]);
    await rest(ports);

    expect(heard.due.map(({ id }) => id).toSorted()).toEqual([...idsOf(published)].toSorted());
  });
});

describe("a child that is accepted but not yet made", () => {
  it("can be read as it will be, by its own tenant only", async () => {
    const ports = await openWithGroup(2);
    const published = await publishAll(ports);
    const second = published[1]?.messageId ?? parentIdOf(published);

    const early = await readMessage(ports, aTenant, second);
    expect(await readMessage(ports, anotherTenant, second)).toBeUndefined();
    await expandFromStore(ports);
    const made = await readMessage(ports, aTenant, second);

    expect(early?.message).toEqual(made?.message);
    expect(early?.message.url).toBe(anEndpoint(1).url);
  });

  it("is found although its parent makes it between the two looks", async () => {
    const ports = await openWithGroup(1);
    const published = await publishAll(ports);
    const [first] = idsOf(published);
    if (first === undefined) throw new Error("one endpoint, one answer");
    let looks = 0;
    const get: Records["get"] = async (tenant, ids) => {
      const records = await ports.records.get(tenant, ids);
      if (looks++ === 0) await expandFromStore(ports);
      return records;
    };

    const record = await readMessage(
      { ...ports, records: { ...ports.records, get } },
      aTenant,
      first,
    );

    expect(record?.message.id).toBe(first);
  });

  it("can be cancelled: then it is never delivered, and its siblings are", async () => {
    const ports = await openWithGroup(3);
    const heard = await listen(ports);
    const published = await publishAll(ports);
    const [first, second, third] = idsOf(published);
    if (!first || !second || !third) throw new Error("three endpoints, three answers");

    expect(await cancelMessages(ports, aTenant, [second])).toEqual([second]);
    await expandFromStore(ports);
    await rest(ports);

    await readIn(ports, { id: second, tenant: aTenant }, "canceled");
    expect(heard.due.map(({ id }) => id)).toEqual([first, third]);
    expect(await cancelMessages(ports, aTenant, [second])).toEqual([]);
  });

  it("is hidden with its parent from other tenants: the parent's own id reads as nothing", async () => {
    const ports = await openWithGroup(1);
    const parent = parentIdOf(await publishAll(ports));

    expect(await stateOfFanOut(ports, parent)).toBe("expanding");
    expect(await readMessage(ports, aTenant, parent)).toBeUndefined();
  });

  it("is not there for an index beyond the group's end", async () => {
    const ports = await openWithGroup(2);
    const parent = parentIdOf(await publishAll(ports));

    expect(await readMessage(ports, aTenant, childId(parent, 2))).toBeUndefined();
    expect(await cancelMessages(ports, aTenant, [childId(parent, 2)])).toEqual([]);
  });
});
