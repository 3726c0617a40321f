import { describe, expect, it } from "@jest/globals";
import {
  allShards,
  defaultPlan,
  flowLaneId,
  isFault,
  limits,
  type MessageId,
  messageId,
  owedCancellation,
  owner,
  parentOf,
  queueId,
} from "@posthaste/domain";
import { type Records, type FanOuts } from "@posthaste/ports";
import { aCommand, anEndpoint, anotherTenant, aPolicy, aTenant, byKind } from "@posthaste/testing";
import { cancelMessages, cancelPortion } from "./cancel.ts";
import { grant } from "../lanes/grant.ts";
import {
  aLocalDelivery,
  insert,
  insertClaimed,
  listen,
  open,
  type Ports,
  readIn,
  rest,
} from "../opened.fixture.ts";
import { expandStored } from "../publish/fan-out.ts";
import { publish } from "../publish/intake.ts";
import { addToGroup } from "../publish/url-groups.ts";

const flow = { key: "tight", limits: { parallelism: 1, periodMs: 1_000 } };
const lane = flowLaneId(aTenant, flow.key);

async function logged(ports: Ports, id: MessageId): Promise<readonly string[]> {
  const page = { limit: 100, order: "earliestFirst" } as const;
  const { items } = await ports.messageLog.list(aTenant, { messageIds: [id] }, page);
  return items.map(({ event }) => event.state);
}

describe("cancelling", () => {
  it.each([
    { state: "held", make: (ports: Ports) => insert(ports, { delayMs: 60_000 }) },
    { state: "waiting", make: (ports: Ports) => insert(ports, { flow }) },
    { state: "due", make: (ports: Ports) => insert(ports) },
    {
      state: "claimed",
      make: async (ports: Ports) => (await insertClaimed(ports)).message,
    },
  ] as const)("ends a message that is $state, as its log says", async (given) => {
    const ports = open();
    const message = await given.make(ports);
    await readIn(ports, message, given.state);

    expect(await cancelMessages(ports, aTenant, [message.id])).toEqual([message.id]);

    await readIn(ports, message, "canceled");
    const active = given.state === "claimed" ? ["ACTIVE"] : [];
    const states = ["CREATED", ...active, "CANCEL_REQUESTED", "CANCELED"];
    expect(await logged(ports, message.id)).toEqual(states);
  });

  it("writes the log rows that the store leaves to it", async () => {
    const ports = open();
    const message = await insert(ports, { delayMs: 60_000 });
    const told: unknown[] = [];
    const fact = owedCancellation(message.id, 0, ports.clock.now());
    const cancel: Records["cancel"] = async () => [
      { kind: "canceled", message, was: "held", left: [], owed: fact },
    ];
    const messageLog = {
      append: async (entries: readonly unknown[]) => void told.push(...entries),
    };

    const owing = { ...ports, records: { ...ports.records, cancel }, messageLog };
    expect(await cancelMessages(owing, aTenant, [message.id])).toEqual([message.id]);

    expect(told).toEqual([{ message, fact }]);
  });

  it("aborts an attempt that runs in this process, and no other", async () => {
    const ports = open();
    const local = aLocalDelivery(0);
    const { message } = await insertClaimed(ports);
    const due = await insert(ports);

    await cancelMessages({ ...ports, local }, aTenant, [message.id, due.id]);

    expect(local.aborted).toEqual([message.id]);
  });

  it("fences a running attempt: its settle changes nothing any more", async () => {
    const ports = open();
    const record = await insertClaimed(ports);
    await cancelMessages(ports, aTenant, [record.message.id]);

    const [lost] = await ports.records.renew([{ id: record.message.id, epoch: record.epoch }]);

    expect(lost).toBe(record.message.id);
  });

  it("gives the lane's slot back and wakes the lane, so that the next in line runs", async () => {
    const ports = open();
    const first = await insert(ports, { flow });
    const second = await insert(ports, { flow });
    await grant(ports, lane);
    await readIn(ports, first, "due");
    const heard = await listen(ports);

    await cancelMessages(ports, aTenant, [first.id]);
    await rest(ports);

    expect(heard.wakes).toEqual([{ shard: first.shard, at: ports.clock.now(), lane }]);
    expect(await ports.tokens.peek(lane)).toMatchObject({ slots: 0 });
    await grant(ports, lane);
    await readIn(ports, second, "due");
  });

  it("leaves the slot of a call that may run elsewhere to its lease: one too many would run", async () => {
    const ports = open();
    const first = await insert(ports, { flow });
    await grant(ports, lane);
    await ports.records.claim([first.id], owner("elsewhere"));
    const second = await insert(ports, { flow });
    const heard = await listen(ports);
    const local = { ...aLocalDelivery(0), abort: () => false };

    await cancelMessages({ ...ports, local }, aTenant, [first.id]);
    await rest(ports);

    expect(heard.wakes).toEqual([]);
    expect(await ports.tokens.peek(lane)).toMatchObject({ slots: 1 });
    await grant(ports, lane);
    await readIn(ports, second, "waiting");
    await ports.clock.advance(limits.leaseMs);
    await grant(ports, lane);
    await readIn(ports, second, "due");
  });

  it("gives the slot of a call that was aborted here back at once", async () => {
    const ports = open();
    const first = await insert(ports, { flow });
    await grant(ports, lane);
    const local = aLocalDelivery(0);
    await ports.records.claim([first.id], local.owner);

    await cancelMessages({ ...ports, local }, aTenant, [first.id]);
    await rest(ports);

    expect(local.aborted).toEqual([first.id]);
    expect(await ports.tokens.peek(lane)).toMatchObject({ slots: 0 });
  });

  it("answers nothing for a message that is unknown, has ended or is another tenant's", async () => {
    const ports = open();
    const mine = await insert(ports);
    await cancelMessages(ports, aTenant, [mine.id]);
    const other = await insert(ports, { tenant: anotherTenant });

    const ids = [messageId("msg_nothing"), mine.id, other.id];

    expect(await cancelMessages(ports, aTenant, ids)).toEqual([]);
    await readIn(ports, other, "due");
  });

  it.each([
    ["a flow key", { flow }],
    ["a queue", { queue: queueId(aTenant, "orders") }],
  ])("logs that a wake of the lane of %s was refused", async (_, lane) => {
    const ports = open();
    const { id } = await insert(ports, lane);
    const bus = { ...ports.bus, publish: () => Promise.reject(new Error("away")) };

    const { carriedOut } = await cancelPortion({ ...ports, bus }, aTenant, [id]);
    await carriedOut;

    expect(ports.log.events()).toContain("follow-up.postponed");
  });

  it("answers at once while the bus and the token store do not answer", async () => {
    const ports = open();
    const message = await insert(ports, { flow });
    const hang = (): Promise<never> => new Promise(() => undefined);
    const bus = { ...ports.bus, publish: hang };
    const tokens = { ...ports.tokens, release: hang };

    const canceling = cancelMessages({ ...ports, bus, tokens }, aTenant, [message.id]);
    await rest(ports);

    expect(await Promise.race([canceling, Promise.resolve("waits")])).toEqual([message.id]);
  });

  it("calls each store once for many, and reads only records that may be parents", async () => {
    const ports = open();
    const messages = await Promise.all(Array.from({ length: 20 }, () => insert(ports, { flow })));
    const calls: string[] = [];
    const counted = <P extends object>(name: string, port: P): P =>
      new Proxy(port, {
        get: (target, property): unknown => {
          const method: unknown = Reflect.get(target, property);
          if (typeof method !== "function") return method;
          return (...args: unknown[]): unknown => {
            calls.push(`${name}.${String(property)}`);
            return Reflect.apply(method, target, args);
          };
        },
      });

    await cancelMessages(
      {
        ...ports,
        records: counted("messages", ports.records),
        tokens: counted("tokens", ports.tokens),
        bus: counted("bus", ports.bus),
      },
      aTenant,
      messages.map(({ id }) => id),
    );
    await rest(ports);

    expect(calls).toEqual(["messages.cancel", "tokens.release", "bus.publish"]);
  });

  it("passes 500 ids at a time to the store, each once however often it is named", async () => {
    const ports = open();
    const { id } = await insert(ports);
    const sizes: number[] = [];
    const cancel: Records["cancel"] = (tenant, ids) => {
      sizes.push(ids.length);
      return ports.records.cancel(tenant, ids);
    };
    const unknown = Array.from({ length: 999 }, (_, n) => messageId(`msg_${n}`));
    const ids = [...unknown, id, id];

    const records = { ...ports.records, cancel };

    expect(await cancelMessages({ ...ports, records }, aTenant, ids)).toEqual([id]);
    expect(sizes).toEqual([500, 500]);
  });

  it("answers for each of many", async () => {
    const ports = open();
    const messages = [await insert(ports), await insert(ports), await insert(ports)];
    const [first, , third] = messages.map(({ id }) => id);
    await cancelMessages(ports, aTenant, [messages[1]?.id ?? messageId("")]);

    expect(
      await cancelMessages(
        ports,
        aTenant,
        messages.map(({ id }) => id),
      ),
    ).toEqual([first, third]);
  });
});

describe("cancelling a child of a group publish while its parent makes it", () => {
  async function openWithChild(policy = aPolicy()): Promise<{ ports: Ports; child: MessageId }> {
    const ports = open();
    await addToGroup(ports.groups, aTenant, "g", [anEndpoint()], defaultPlan);
    const command = aCommand({ destination: { kind: "group", name: "g" }, policy });
    const answer = await publish(ports, command);
    if (isFault(answer) || "messageId" in answer) throw new Error("a group");
    return { ports, child: answer.childAt(0).messageId };
  }

  async function expandAll(ports: Ports): Promise<void> {
    const { fanOuts } = byKind(await ports.alarms.ring(allShards, 10));
    for (const { id, tenant } of fanOuts) await expandStored(ports, tenant, id);
  }

  /** Runs `then` right after the first answer that there is nothing to cancel. */
  function withAfterMiss(ports: Ports, then: () => Promise<void>): Ports {
    let isFirst = true;
    const cancel: Records["cancel"] = async (tenant, ids) => {
      const answers = await ports.records.cancel(tenant, ids);
      if (isFirst) {
        isFirst = false;
        await then();
      }
      return answers;
    };
    return { ...ports, records: { ...ports.records, cancel } };
  }

  /** Runs `then` right after the child was looked for and found not to be made. */
  function withAfterLook(ports: Ports, then: () => Promise<void>): Ports {
    let isFirst = true;
    const get: FanOuts["get"] = async (tenant, ids) => {
      const found = await ports.fanOuts.get(tenant, ids);
      if (isFirst) {
        isFirst = false;
        await then();
      }
      return found;
    };
    return { ...ports, fanOuts: { ...ports.fanOuts, get } };
  }

  it("cancels it although the parent has made it since it was found missing", async () => {
    const { ports, child } = await openWithChild();

    const racing = withAfterMiss(ports, () => expandAll(ports));

    expect(await cancelMessages(racing, aTenant, [child])).toEqual([child]);
    await readIn(ports, { id: child, tenant: aTenant }, "canceled");
  });

  it("aborts its attempt and gives its slot back when it has come to run meanwhile", async () => {
    const { ports, child } = await openWithChild(aPolicy({ flow }));
    const local = aLocalDelivery(0);

    const racing = withAfterLook(ports, async () => {
      await expandAll(ports);
      await grant(ports, lane);
      await ports.records.claim([child], local.owner);
    });
    const canceled = await cancelMessages({ ...racing, local }, aTenant, [child]);
    await rest(ports);

    expect(canceled).toEqual([child]);
    expect(local.aborted).toEqual([child]);
    expect(await ports.tokens.peek(lane)).toMatchObject({ slots: 0 });
  });

  it("makes no child and returns nothing when the parent is another tenant's", async () => {
    const { ports, child } = await openWithChild();

    expect(await cancelMessages(ports, anotherTenant, [child])).toEqual([]);
    await ports.clock.advance(limits.ringAheadMs);
    await expandAll(ports);
    await readIn(ports, { id: child, tenant: aTenant }, "due");
  });

  it("is not cancelled by its parent's id, which is no message's", async () => {
    const { ports, child } = await openWithChild();
    const parent = parentOf(child)?.parent ?? child;

    expect(await cancelMessages(ports, aTenant, [parent])).toEqual([]);
    await expandAll(ports);
    await readIn(ports, { id: child, tenant: aTenant }, "due");
  });
});
