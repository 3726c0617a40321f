/** The contract of `FanOuts`: a group publish is one insert, and its children come from it, each once and in its place. */
import { expect } from "@jest/globals";
import {
  accept,
  allShards,
  childOf,
  type FanOut,
  type FlowLimits,
  limits,
  type Message,
  ownFormat,
} from "@posthaste/domain";
import { aKey } from "../builders/command.ts";
import { aFanOut, type FanOutOverrides } from "../builders/fan-out.ts";
import { anotherTenant, anOwner, aPolicy, aTenant } from "../builders/message.ts";
import { anEndpoint } from "../builders/url-group.ts";
import { dice } from "../seeded-random.ts";
import { contract } from "./guarantee.ts";
import {
  clearAll,
  delivered,
  inLine,
  insert,
  insertAll,
  noRings,
  oneAtATime,
  read,
  type RecordsHarness,
  ring,
  ringAll,
  settle,
  type StoreGuarantee,
  tightLane,
} from "./records/harness.ts";

export function describeFanOuts(name: string, open: () => Promise<RecordsHarness>): void {
  contract(`${name}: fan-outs`, open, {}, (it) => {
    inserting(it);
    advancing(it);
    sharing(it);
    placing(it);
    removing(it);
  });
}

function inserting(it: StoreGuarantee): void {
  it("a fan-out is read back as it was inserted, by its own tenant only", async (harness) => {
    const fanOut = newFanOut(harness, {
      skipped: [0, 7],
      command: {
        policy: aPolicy({ flow: oneAtATime, labels: ["a"] }),
        hop: 3,
        dialect: "upstash",
        queue: "queue",
      },
    });

    expect(await harness.fanOuts.insert(fanOut, "new")).toBe("inserted");

    const unknown = harness.ids.next();
    expect(await harness.fanOuts.get(aTenant, [unknown, fanOut.id])).toEqual([undefined, fanOut]);
    expect(await harness.fanOuts.get(anotherTenant, [fanOut.id])).toEqual([undefined]);
    expect(await harness.fanOuts.get(aTenant, [])).toEqual([]);
  });

  it("an insert of an existing id succeeds and changes nothing", async (harness) => {
    const fanOut = await insertFanOut(harness);
    await harness.fanOuts.advance(fanOut.id, 0, 500, false);

    expect(await harness.fanOuts.insert(fanOut, "new")).toBe("known");
    expect((await readFanOut(harness, fanOut)).state).toEqual({ kind: "expanding", upTo: 500 });
  });

  it("an insert confirms its deduplication windows", async (harness) => {
    const { tokens } = harness;
    const fanOut = newFanOut(harness);
    const entry = { key: aKey("order-1"), id: fanOut.id };
    await tokens?.claim([entry]);
    await harness.fanOuts.insert(fanOut, "new", [entry]);

    const windows = await tokens?.claim([{ ...entry, id: harness.ids.next() }]);

    if (tokens) expect(windows).toEqual([{ kind: "done", id: fanOut.id }]);
  });

  it("a fan-out is no message: it is not read, claimed, cancelled, pulled or counted as one", async (harness) => {
    const { id } = await insertFanOut(harness);

    expect(await harness.records.get(aTenant, [id])).toEqual([undefined]);
    expect(await harness.records.claim([id], anOwner)).toEqual([]);
    expect(await harness.records.cancel(aTenant, [id])).toEqual([{ kind: "unknown" }]);
    expect(await harness.records.pull(aTenant, 10, [])).toEqual([]);
    await harness.advance(backlogLagMsMax);
    expect(await harness.records.backlog(aTenant)).toBe(0);
  });

  it("a fan-out sets the limits of its flow key", async (harness) => {
    await insert(harness, { flow: oneAtATime });
    const newer: FlowLimits = { parallelism: 7, periodMs: 1_000 };
    const flow = { key: oneAtATime.key, limits: newer };

    await insertFanOut(harness, { command: { policy: aPolicy({ flow }) } });

    expect(await harness.flowLanes.rows([tightLane])).toMatchObject([{ limits: newer }]);
  });
}

const backlogLagMsMax = 5_000;

function advancing(it: StoreGuarantee): void {
  it("a fan-out rings at once and until it is expanded, and apart from other kinds", async (harness) => {
    const { id, tenant } = await insertFanOut(harness);
    const first = await ringAll(harness);
    await harness.advance(limits.ringAheadMs);
    const early = await ring(harness, allShards, 10, ["record", "followUp", "fact"]);
    const second = await ringAll(harness);

    for (const said of [first, second])
      expect(said).toEqual({ ...noRings, fanOuts: [{ id, tenant }] });
    expect(early).toEqual(noRings);
  });

  it("a fan-out above this build's format is neither read, rung nor advanced", async (harness) => {
    const fanOut = { ...newFanOut(harness), format: ownFormat + 1 };
    await harness.fanOuts.insert(fanOut, "new");
    await harness.advance(limits.ringAheadMs);

    expect(await harness.fanOuts.get(aTenant, [fanOut.id])).toEqual([undefined]);
    expect(await harness.fanOuts.advance(fanOut.id, 0, 500, false)).toBe(false);
    expect(await ringAll(harness)).toEqual(noRings);
    expect(await harness.alarms.next(allShards)).toBeUndefined();
  });

  it("the alarm of a fan-out is among the next alarms", async (harness) => {
    const { wakeAt } = await insertFanOut(harness);

    expect(await harness.alarms.next(allShards)).toBe(wakeAt);
    expect(await harness.alarms.next(allShards, ["record"])).toBeUndefined();
  });

  it("progress is written from its expected place, and by one expander only", async (harness) => {
    const { fanOuts, other = harness } = harness;
    const fanOut = await insertFanOut(harness);

    const [first, second] = await Promise.all([
      fanOuts.advance(fanOut.id, 0, 500, false),
      other.fanOuts.advance(fanOut.id, 0, 500, false),
    ]);

    expect([first, second].toSorted()).toEqual([false, true]);
    expect(await fanOuts.advance(fanOut.id, 0, 1_000, false)).toBe(false);
    const { state, wakeAt } = await readFanOut(harness, fanOut);
    expect(state).toEqual({ kind: "expanding", upTo: 500 });
    expect(wakeAt).toBeLessThanOrEqual(harness.now() + limits.ringAheadMs);
  });

  it("an expanded fan-out has ended: it neither rings nor expands again", async (harness) => {
    const fanOut = await insertFanOut(harness);
    await harness.fanOuts.advance(fanOut.id, 0, 500, false);

    expect(await harness.fanOuts.advance(fanOut.id, 500, 1_000, true)).toBe(true);
    await harness.advance(limits.ringAheadMs);

    expect((await readFanOut(harness, fanOut)).state.kind).toBe("expanded");
    expect(await ringAll(harness)).toEqual(noRings);
    expect(await harness.fanOuts.advance(fanOut.id, 1_000, 1_500, false)).toBe(false);
  });

  it("progress of a missing fan-out, or of a message, fails", async (harness) => {
    const { id } = await insert(harness);

    expect(await harness.fanOuts.advance(harness.ids.next(), 0, 500, false)).toBe(false);
    expect(await harness.fanOuts.advance(id, 0, 500, true)).toBe(false);
  });
}

function sharing(it: StoreGuarantee): void {
  it("children share the body of their fan-out, and each is read and claimed with it", async (harness) => {
    const body = dice(4).bytes(100_000);
    const fanOut = await insertFanOut(harness, { command: { body } });
    const children = await insertChildren(harness, fanOut, 3);

    const claimed = await harness.records.claim(
      children.map(({ id }) => id),
      anOwner,
    );

    expect(claimed).toHaveLength(3);
    for (const { message } of claimed) {
      expect(Buffer.compare(message.body, body)).toBe(0);
      expect(Buffer.compare((await read(harness, message)).message.body, body)).toBe(0);
    }
  });

  it("a batch of children that is inserted again makes no child twice", async (harness) => {
    const fanOut = await insertFanOut(harness);
    const [first] = await insertChildren(harness, fanOut, 3);
    if (!first) throw new Error("unreachable");
    await finish(harness, first);
    await harness.advance(1_000);
    await harness.records.removeFinished(allShards, harness.now(), 100);

    const again = await harness.records.insert(
      childrenOf(fanOut, 5).map((child) => ({ record: accept(child, harness.now()) })),
      "new",
    );

    expect(again).toEqual(["known", "known", "known", "inserted", "inserted"]);
  });
}

function placing(it: StoreGuarantee): void {
  it("a child has the place of its publish's acknowledgement, in the order of the endpoints, however late it is made", async (harness) => {
    const before = await insertAll(harness, [{ flow: oneAtATime }, { flow: oneAtATime }]);
    const fanOut = await insertFanOut(harness, inTightLane);
    const between = await insert(harness, { flow: oneAtATime });
    const second = await insertFanOut(harness, inTightLane);
    const after = await insert(harness, { flow: oneAtATime });

    const ofSecond = await insertChildren(harness, second, 2);
    const children = childrenOf(fanOut, 3);
    for (const child of children.toReversed())
      await harness.records.insert([{ record: accept(child, harness.now()) }], "new");

    const line = [...before, ...children, between, ...ofSecond, after];
    expect(await inLine(harness)).toEqual(line.map(({ id }) => id));
  });

  it("reserved places that are never used keep no message back", async (harness) => {
    const fanOut = await insertFanOut(harness, { ...inTightLane, skipped: [0, 2] });
    const after = await insert(harness, { flow: oneAtATime });
    const [, child] = childrenOf(fanOut, 2);
    if (!child) throw new Error("unreachable");
    await harness.records.insert([{ record: accept(child, harness.now()) }], "new");

    expect(await inLine(harness)).toEqual([child.id, after.id]);
  });
}

const inTightLane = { command: { policy: aPolicy({ flow: oneAtATime }) } } as const;

function removing(it: StoreGuarantee): void {
  it("a shared body outlives the end of its fan-out while a child remains", async (harness) => {
    const body = dice(5).bytes(1_000);
    const fanOut = await insertFanOut(harness, { command: { body } });
    const [first, second] = await insertChildren(harness, fanOut, 2);
    if (!first || !second) throw new Error("unreachable");
    await harness.fanOuts.advance(fanOut.id, 0, 2, true);
    await finish(harness, first);
    await harness.advance(1_000);
    await removeAll(harness);

    expect(await harness.records.get(aTenant, [first.id])).toEqual([undefined]);
    expect(Buffer.compare((await read(harness, second)).message.body, body)).toBe(0);
  });

  it("a shared body is kept until its last child is swept", async (harness) => {
    const body = dice(7).bytes(1_000);
    const fanOut = await insertFanOut(harness, { command: { body } });
    const [first, second] = await insertChildren(harness, fanOut, 2);
    if (!first || !second) throw new Error("unreachable");
    await harness.fanOuts.advance(fanOut.id, 0, 2, true);
    await finish(harness, first);
    await harness.advance(2_000);
    const between = harness.now();
    await harness.advance(2_000);
    await finish(harness, second);
    await harness.advance(1_000);
    await removeAll(harness);
    const kept = async (): Promise<readonly boolean[]> => {
      const bodies = await Promise.all(
        [first, second].map(({ id }) => harness.keptBodies.get(aTenant, id)),
      );
      return bodies.map((each) => each !== undefined && Buffer.compare(each, body) === 0);
    };

    expect(await kept()).toEqual([true, true]);
    await harness.keptBodies.sweep(aTenant, between, 100);
    await removeAll(harness);
    expect(await kept()).toEqual([false, true]);
    await harness.keptBodies.sweep(aTenant, harness.now(), 100);
    expect(await kept()).toEqual([false, false]);
  });

  it("an expanded fan-out is removed when no child remains", async (harness) => {
    const fanOut = await insertFanOut(harness);
    const children = await insertChildren(harness, fanOut, 2);
    await harness.fanOuts.advance(fanOut.id, 0, 2, true);
    for (const child of children) await finish(harness, child);
    await harness.advance(1_000);
    await removeAll(harness, () => false);

    expect(await harness.fanOuts.get(aTenant, [fanOut.id])).toEqual([undefined]);
  });

  it("a fan-out that is not expanded yet stays, even without children", async (harness) => {
    const body = dice(6).bytes(1_000);
    const fanOut = await insertFanOut(harness, { command: { body } });
    for (const child of await insertChildren(harness, fanOut, 1)) await finish(harness, child);
    await harness.advance(1_000);
    await removeAll(harness);

    expect(Buffer.compare((await readFanOut(harness, fanOut)).body, body)).toBe(0);
  });
}

const newFanOut = (harness: RecordsHarness, overrides: FanOutOverrides = {}) =>
  aFanOut({ id: harness.ids.next(), now: harness.now(), ...overrides });

async function insertFanOut(
  harness: RecordsHarness,
  overrides: FanOutOverrides = {},
): Promise<FanOut> {
  const fanOut = newFanOut(harness, overrides);
  expect(await harness.fanOuts.insert(fanOut, "new")).toBe("inserted");
  return fanOut;
}

async function readFanOut({ fanOuts }: RecordsHarness, { id, tenant }: FanOut): Promise<FanOut> {
  const [found] = await fanOuts.get(tenant, [id]);
  if (!found) throw new Error(`the fan-out ${id} is not there`);
  return found;
}

const childrenOf = (fanOut: FanOut, count: number): readonly Message[] =>
  Array.from({ length: count }, (_, index) => childOf(fanOut, anEndpoint(index), index));

async function insertChildren(
  harness: RecordsHarness,
  fanOut: FanOut,
  count: number,
): Promise<readonly Message[]> {
  const children = childrenOf(fanOut, count);
  await harness.records.insert(
    children.map((child) => ({ record: accept(child, harness.now()) })),
    "new",
  );
  return children;
}

async function finish(harness: RecordsHarness, message: Message): Promise<void> {
  const [record] = await harness.records.claim([message.id], anOwner);
  if (!record) throw new Error(`${message.id} could not be claimed`);
  await settle(harness, record, delivered);
  await clearAll(harness, message);
}

/** Removes twice: a fan-out may be checked before the last of its children is removed. */
async function removeAll(harness: RecordsHarness, keeps = () => true): Promise<void> {
  await harness.records.removeFinished(allShards, harness.now(), 100, keeps);
  await harness.records.removeFinished(allShards, harness.now(), 100, keeps);
}
