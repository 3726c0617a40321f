import { describe, expect, it } from "@jest/globals";
import {
  allShards,
  defaultPlan,
  isFault,
  type LiveFilter,
  type MessageId,
  messageId,
} from "@posthaste/domain";
import { type FanOuts, type Records, type Walk } from "@posthaste/ports";
import {
  aCommand,
  anEndpoint,
  anotherTenant,
  aPolicy,
  aRunId,
  aStartCommand,
  aTenant,
  byKind,
} from "@posthaste/testing";
import { cancelMessages } from "./cancel.ts";
import { startRun } from "../runs/start.ts";
import { cancelMatching, countLive, countMatching } from "./cancel-matching.ts";
import { expandStored } from "../publish/fan-out.ts";
import { insert, insertClaimed, open, type Ports, readIn, rest } from "../opened.fixture.ts";
import { publish } from "../publish/intake.ts";
import { addToGroup } from "../publish/url-groups.ts";

const all = { filter: {}, countMax: Infinity, until: Infinity };
const labelled = (label: string) => ({ policy: aPolicy({ labels: [label] }), delayMs: 60_000 });

/** Publishes to a group whose children are not made yet. Returns their ids. */
async function publishToGroup(
  ports: Ports,
  urls: readonly string[],
): Promise<readonly MessageId[]> {
  const endpoints = urls.map((url) => ({ ...anEndpoint(), url }));
  await addToGroup(ports.groups, aTenant, "g", endpoints, defaultPlan);
  const answer = await publish(ports, aCommand({ destination: { kind: "group", name: "g" } }));
  if (isFault(answer) || "messageId" in answer) throw new Error("a list of children");
  return urls.map((_, i) => answer.childAt(i).messageId);
}

async function expandAll(ports: Ports): Promise<void> {
  const { fanOuts } = byKind(await ports.alarms.ring(allShards, 10));
  for (const { id, tenant } of fanOuts) await expandStored(ports, tenant, id);
}

function withBeforeLook(ports: Ports, then: () => Promise<unknown>): Ports {
  let isFirst = true;
  const matching: Records["matching"] = async (...given) => {
    if (isFirst) {
      isFirst = false;
      await then();
    }
    return ports.records.matching(...given);
  };
  return { ...ports, records: { ...ports.records, matching } };
}

describe("cancelling the matching messages", () => {
  it("ends all that does, and counts it", async () => {
    const ports = open();
    const mine = [await insert(ports, labelled("a")), await insert(ports, labelled("a"))];
    const other = await insert(ports, labelled("b"));
    const theirs = await insert(ports, { ...labelled("a"), tenant: anotherTenant });

    const done = await cancelMatching(ports, aTenant, { ...all, filter: { labels: ["a"] } });

    expect(done).toEqual({ count: 2, isAll: true });
    for (const message of mine) await readIn(ports, message, "canceled");
    for (const message of [other, theirs]) await readIn(ports, message, "held");
  });

  it("continues in steps of 500 until no match is left", async () => {
    const ports = open();
    for (let n = 0; n < 1_001; n++) await insert(ports, labelled("a"));
    const sizes: number[] = [];
    const cancel: Records["cancel"] = (tenant, ids) => {
      sizes.push(ids.length);
      return ports.records.cancel(tenant, ids);
    };

    const records = { ...ports.records, cancel };

    expect(await cancelMatching({ ...ports, records }, aTenant, all)).toEqual({
      count: 1_001,
      isAll: true,
    });
    expect(sizes).toEqual([500, 500, 1]);
  });

  it.each<[string, LiveFilter]>([
    ["a URL", { urls: ["https://no.example/"] }],
    ["a host", { hosts: ["no.example"] }],
    ["a path", { paths: ["/no"] }],
    ["an address of the caller", { callerIps: ["192.0.2.1"] }],
    ["a time", { from: 0, to: 1 }],
  ])("by %s looks at no more than 5,000 records in a step, and continues", async (_, filter) => {
    const ports = open();
    await insert(ports, labelled("a"));
    const walks: Pick<Walk, "after" | "foundMax" | "lookedMax">[] = [];
    const matching: Records["matching"] = async (tenant, given, walk) => {
      const { after, foundMax, lookedMax } = walk;
      walks.push({ ...(after !== undefined && { after }), foundMax, lookedMax });
      const walked = await ports.records.matching(tenant, given, walk);
      return walks.length < 3 ? { ...walked, next: `${walks.length}` } : walked;
    };

    const records = { ...ports.records, matching };
    const done = await cancelMatching({ ...ports, records }, aTenant, { ...all, filter });

    const bounds = { foundMax: 500, lookedMax: 5_000 };
    expect(done).toEqual({ count: 0, isAll: true });
    expect(walks).toEqual([bounds, { ...bounds, after: "1" }, { ...bounds, after: "2" }]);
  });

  it("touches nothing that was made after it was called", async () => {
    const ports = open();
    await insert(ports, labelled("a"));
    let later;

    const racing = withBeforeLook(ports, async () => (later = await insert(ports, labelled("a"))));

    expect(await cancelMatching(racing, aTenant, all)).toEqual({ count: 1, isAll: true });
    await readIn(ports, later ?? { id: messageId(""), tenant: aTenant }, "held");
  });

  it("cancels as many as it may", async () => {
    const ports = open();
    for (let n = 0; n < 5; n++) await insert(ports, labelled("a"));

    const matching = { ...all, countMax: 3 };

    expect(await cancelMatching(ports, aTenant, matching)).toEqual({ count: 3, isAll: true });
    expect(await cancelMatching(ports, aTenant, matching)).toEqual({ count: 2, isAll: true });
  });

  it("begins no step after its time, and reports that it is not done", async () => {
    const ports = open();
    await insert(ports, labelled("a"));

    const matching = { ...all, until: ports.clock.passedMs() };

    expect(await cancelMatching(ports, aTenant, matching)).toEqual({ count: 0, isAll: false });
  });

  it("cancels the children that a group publish has not made yet, before they are announced", async () => {
    const ports = open();
    const children = await publishToGroup(ports, ["https://a.example/", "https://b.example/"]);

    const hosts = { ...all, filter: { hosts: ["b.example"] } };

    expect(await countMatching(ports, aTenant, hosts)).toEqual({ count: 1, isAll: true });
    expect(await cancelMatching(ports, aTenant, hosts)).toEqual({ count: 1, isAll: true });
    await expandAll(ports);
    const states = await ports.records.get(aTenant, children);
    expect(states.map((record) => record?.state.kind)).toEqual(["due", "canceled"]);
  });

  it("cancels the children that are made meanwhile", async () => {
    const ports = open();
    const children = await publishToGroup(ports, ["https://a.example/", "https://b.example/"]);

    const racing = withBeforeLook(ports, () => expandAll(ports));

    expect(await cancelMatching(racing, aTenant, all)).toEqual({ count: 2, isAll: true });
    const states = await ports.records.get(aTenant, children);
    expect(states.map((record) => record?.state.kind)).toEqual(["canceled", "canceled"]);
  });

  it("announces the effects of a step before the next step, and waits at most 2 s", async () => {
    const ports = open();
    for (let n = 0; n < 501; n++) await insert(ports, { ...labelled("a"), flow });
    const hang = (): Promise<never> => new Promise(() => undefined);
    const tokens = { ...ports.tokens, release: hang };
    let isDone = false;

    const canceling = cancelMatching({ ...ports, tokens }, aTenant, all);
    void canceling.then(() => (isDone = true));
    await rest(ports);
    const left = await countMatching(ports, aTenant, all);
    await ports.clock.advance(2_000);
    await ports.clock.advance(2_000);

    expect(left).toEqual({ count: 1, isAll: true });
    expect(await canceling).toEqual({ count: 501, isAll: true });
    expect(isDone).toBe(true);
  });
});

const flow = { key: "k", limits: { parallelism: 1, periodMs: 1_000 } };

describe("counting the messages that would be cancelled", () => {
  it("by filter changes nothing", async () => {
    const ports = open();
    const messages = [await insert(ports, labelled("a")), await insert(ports, labelled("a"))];

    expect(await countMatching(ports, aTenant, all)).toEqual({ count: 2, isAll: true });
    expect(await countMatching(ports, aTenant, { ...all, countMax: 1 })).toEqual({
      count: 1,
      isAll: true,
    });
    for (const message of messages) await readIn(ports, message, "held");
  });

  it("by ids skips ended, unknown and other tenants' messages", async () => {
    const ports = open();
    const held = await insert(ports, labelled("a"));
    const { message: claimed } = await insertClaimed(ports);
    const ended = await insert(ports);
    await ports.records.cancel(aTenant, [ended.id]);
    const theirs = await insert(ports, { tenant: anotherTenant });
    const children = await publishToGroup(ports, ["https://a.example/", "https://b.example/"]);

    const ids = [held, claimed, ended, theirs].map(({ id }) => id);

    expect(
      await countLive(ports, aTenant, [...ids, held.id, messageId("msg_x"), ...children]),
    ).toBe(4);
    await readIn(ports, held, "held");
  });

  it("by ids skips messages of runs, as a cancel does", async () => {
    const ports = open();
    await startRun(ports, aStartCommand());
    const run = await ports.runs.get({ tenant: aTenant, id: aRunId });
    if (!run) throw new Error("there is a run");

    expect(await countLive(ports, aTenant, [run.root])).toBe(0);
    expect(await cancelMessages(ports, aTenant, [run.root])).toEqual([]);
  });

  it("of many group publishes holds the bodies of four at a time, by a cancel and by its count", async () => {
    const ports = open();
    const children: MessageId[] = [];
    for (let n = 0; n < 10; n++)
      children.push(...(await publishToGroup(ports, ["https://a.example/"])));
    const reads: number[] = [];
    const get: FanOuts["get"] = (tenant, ids) => {
      reads.push(ids.length);
      return ports.fanOuts.get(tenant, ids);
    };
    const watched = { ...ports, fanOuts: { ...ports.fanOuts, get } };

    expect(await countLive(watched, aTenant, children)).toBe(10);
    expect(await cancelMessages(watched, aTenant, children)).toEqual(children);

    expect(reads).toEqual([4, 4, 2, 4, 4, 2]);
  });
});
