import { describe, expect, it } from "@jest/globals";
import { flowLaneId, type InState, isFault, isIn, limits, owner, shardOf } from "@posthaste/domain";
import { type LocalDelivery, type NamedDelivery, type Records, StoreError } from "@posthaste/ports";
import { aCommand, aPolicy } from "@posthaste/testing";
import { type Published } from "./accept.ts";
import { aLocalDelivery, gate, listen, open, type Ports, readIn, rest } from "../opened.fixture.ts";
import { publish } from "./intake.ts";

const url = "https://destination.example/hook";
const { tenant } = aCommand();
const flow = { key: "tight", limits: { parallelism: 1, periodMs: 1_000 } };
const lane = flowLaneId(tenant, flow.key);
const limited = { policy: aPolicy({ flow }) };

async function publishOne(
  ports: Parameters<typeof publish>[0],
  overrides: Parameters<typeof aCommand>[0] = {},
): Promise<Published> {
  const answer = await publish(ports, aCommand(overrides));
  if (isFault(answer) || !("messageId" in answer)) throw new Error("one publish, one answer");
  return answer;
}

function withHeldInsert(ports: Ports): { ports: Ports; letGo: () => void } {
  const { open: letGo, opened } = gate();
  const insert: Records["insert"] = async (inserts, intake) => {
    const answer = await ports.records.insert(inserts, intake);
    await opened;
    return answer;
  };
  return { ports: { ...ports, records: { ...ports.records, insert } }, letGo };
}

const withInsert = (ports: Ports, insert: Records["insert"]): Ports => ({
  ...ports,
  records: { ...ports.records, insert },
});

const failing: Records["insert"] = () =>
  Promise.reject(new StoreError("unavailable", "the store is away"));

describe("publishing to a URL", () => {
  it("answers nothing, hands over nothing and says nothing before the insert has resolved", async () => {
    const { ports, letGo } = withHeldInsert(open());
    const heard = await listen(ports);
    const local = aLocalDelivery(1);
    let answered = 0;

    const claimed = publishOne({ ...ports, local }).then(() => answered++);
    const due = publishOne({ ...ports, local }).then(() => answered++);
    await rest(ports);

    expect({ answered, ran: local.ran.length, due: heard.due.length }).toEqual({
      answered: 0,
      ran: 0,
      due: 0,
    });
    letGo();
    await Promise.all([claimed, due]);
    await rest(ports);
    expect({ answered, ran: local.ran.length, due: heard.due.length }).toEqual({
      answered: 2,
      ran: 1,
      due: 1,
    });
  });

  it("inserts the record claimed and hands it over once when a local slot is reserved, and gives no hint", async () => {
    const ports = open();
    const heard = await listen(ports);
    const local = aLocalDelivery(1);

    const { messageId } = await publishOne({ ...ports, local });
    await rest(ports);

    const record = await readIn(ports, { id: messageId, tenant: aCommand().tenant }, "claimed");
    expect(record.state.owner).toBe(local.owner);
    expect(record.epoch).toBe(1);
    expect(local.ran.map(({ message, epoch }) => [message.id, epoch])).toEqual([[messageId, 1]]);
    expect(local.taken).toBe(1);
    expect(heard.due).toEqual([]);
  });

  it("inserts the record due, and hints, when no local slot is free or there is no local deliverer", async () => {
    const ports = open();
    const heard = await listen(ports);
    const local = aLocalDelivery(0);

    const first = await publishOne({ ...ports, local });
    const second = await publishOne(ports);
    await rest(ports);

    for (const { messageId } of [first, second])
      await readIn(ports, { id: messageId, tenant: aCommand().tenant }, "due");
    expect(local.ran).toEqual([]);
    expect(heard.due.map(({ id }) => id)).toEqual([first.messageId, second.messageId]);
  });

  it("waits for a place in line where the deliverer says so, and is then claimed at the time after the wait", async () => {
    const ports = open();
    const full = aLocalDelivery(0);
    const free = aLocalDelivery(1);
    const { opened, open: letOn } = gate();
    let hasPlace = false;
    const local: LocalDelivery = {
      ...free,
      reserve: (...place) => (hasPlace ? free : full).reserve(...place),
      waitForPlace: () => opened.then(() => void (hasPlace = true)),
    };

    const publishing = publishOne({ ...ports, local });
    await ports.clock.advance(50);
    const before = ports.clock.now();
    letOn();
    const { messageId } = await publishing;

    const record = await readIn(ports, { id: messageId, tenant: aCommand().tenant }, "claimed");
    expect(record.message.createdAt).toBe(before);
    expect(free.ran).toHaveLength(1);
  });

  it("waits while the deliverers of other processes are busy, reserves nothing meanwhile, and is then claimed for one of them", async () => {
    const ports = open();
    const { opened, open: letOn } = gate();
    const rooms = { kept: 0, most: 0 };
    const told: InState<"claimed">[] = [];
    const named: NamedDelivery = {
      ownerFor: () => {
        rooms.most = Math.max(rooms.most, ++rooms.kept);
        return owner("elsewhere");
      },
      waitWhileBusy: () => opened,
      sendHint: (record) => void told.push(record),
      release: () => void rooms.kept--,
    };

    const publishing = publishOne({ ...ports, named });
    await ports.clock.advance(50);
    expect(rooms).toEqual({ kept: 0, most: 1 });
    const before = ports.clock.now();
    letOn();
    await publishing;

    expect(rooms).toEqual({ kept: 1, most: 1 });
    expect(told.map(({ message }) => message.createdAt)).toEqual([before]);
  });

  it("is due if there is no place after the wait", async () => {
    const ports = open();
    const local: LocalDelivery = { ...aLocalDelivery(0), waitForPlace: () => Promise.resolve() };

    const { messageId } = await publishOne({ ...ports, local });

    await readIn(ports, { id: messageId, tenant: aCommand().tenant }, "due");
  });

  it("gives the slot back and hands over nothing when the insert fails", async () => {
    const ports = open();
    const heard = await listen(ports);
    const local = aLocalDelivery(1);

    const publishing = publishOne({ ...withInsert(ports, failing), local });

    await expect(publishing).rejects.toMatchObject({ code: "unavailable" });
    await rest(ports);
    expect({ taken: local.taken, ran: local.ran }).toEqual({ taken: 0, ran: [] });
    expect(heard.due).toEqual([]);
  });

  it("gives the slot back and hands over nothing when the id is known already, and says so", async () => {
    const ports = open();
    const heard = await listen(ports);
    const local = aLocalDelivery(1);
    const known: Records["insert"] = async (inserts) => inserts.map(() => "known");

    const command = { deduplication: { kind: "explicit", id: "a" } } as const;
    const answer = await publishOne({ ...withInsert(ports, known), local }, command);
    await rest(ports);

    expect(answer.deduplicated).toBe(true);
    expect({ taken: local.taken, ran: local.ran }).toEqual({ taken: 0, ran: [] });
    expect(heard.due).toEqual([]);
  });

  it("holds a delayed message, takes no slot for it, and wakes the scheduler of its shard at its time", async () => {
    const ports = open();
    const heard = await listen(ports);
    const local = aLocalDelivery(1);
    const dueAt = ports.clock.now() + 5_000;

    const { messageId } = await publishOne(
      { ...ports, local },
      { postponement: { kind: "delay", delayMs: 5_000 } },
    );
    await rest(ports);

    const record = await readIn(ports, { id: messageId, tenant: aCommand().tenant }, "held");
    expect(record.state.dueAt).toBe(dueAt);
    expect(heard.wakes).toEqual([{ shard: shardOf(messageId), at: dueAt, source: "record" }]);
    expect({ due: heard.due, taken: local.taken }).toEqual({ due: [], taken: 0 });
  });

  it("takes a slot of a flow key whose line is empty, and its insert claims the message", async () => {
    const ports = open();
    const heard = await listen(ports);
    const local = aLocalDelivery(1);

    const { messageId } = await publishOne({ ...ports, local }, limited);
    await rest(ports);

    await readIn(ports, { id: messageId, tenant }, "claimed");
    expect(local.ran.map(({ message }) => message.id)).toEqual([messageId]);
    expect(await ports.tokens.use(lane, [messageId])).toEqual([]);
    expect({ due: heard.due, wakes: heard.wakes }).toEqual({ due: [], wakes: [] });
  });

  it("puts a message with flow control into its line if its key has no free slot, takes no slot of the process, and wakes its lane now", async () => {
    const ports = open();
    const heard = await listen(ports);
    const local = aLocalDelivery(2);
    await publishOne({ ...ports, local }, limited);

    const { messageId } = await publishOne({ ...ports, local }, limited);
    await rest(ports);

    const { message } = await readIn(ports, { id: messageId, tenant }, "waiting");
    expect(heard.wakes).toEqual([{ shard: message.shard, at: ports.clock.now(), lane }]);
    expect({ due: heard.due, taken: local.taken }).toEqual({ due: [], taken: 1 });
  });

  it("inserts it due, as granted, if no deliverer has a place, and hints it", async () => {
    const ports = open();
    const heard = await listen(ports);

    const { messageId } = await publishOne({ ...ports, local: aLocalDelivery(0) }, limited);
    await rest(ports);

    const { state } = await readIn(ports, { id: messageId, tenant }, "due");
    expect(state.grantUntil).toBe(ports.clock.now() + limits.grantMs);
    expect(heard.due.map(({ id }) => id)).toEqual([messageId]);
    expect((await ports.tokens.peek(lane)).slots).toBe(1);
  });

  it("gives the slot of the key back when the insert fails", async () => {
    const ports = open();
    const local = aLocalDelivery(1);

    const publishing = publishOne({ ...withInsert(ports, failing), local }, limited);

    await expect(publishing).rejects.toMatchObject({ code: "unavailable" });
    await rest(ports);
    expect((await ports.tokens.peek(lane)).slots).toBe(0);
    expect(local.taken).toBe(0);
  });

  it("leaves the slot to the message that another publish has inserted under the same id", async () => {
    const ports = open();
    const local = aLocalDelivery(2);
    const insertTwice: Records["insert"] = async (inserts, intake) => {
      await ports.records.insert(inserts, intake);
      return ports.records.insert(inserts, intake);
    };

    const answer = await publishOne({ ...withInsert(ports, insertTwice), local }, limited);
    await rest(ports);

    expect((await ports.tokens.peek(lane)).slots).toBe(1);
    await readIn(ports, { id: answer.messageId, tenant }, "claimed");
  });

  it("is accepted although the bus refuses the hint: the record's alarm is the truth", async () => {
    const ports = open();
    const bus = { ...ports.bus, publish: () => Promise.reject(new Error("the bus is away")) };

    const { messageId } = await publishOne({ ...ports, bus });
    await rest(ports);

    const record = await readIn(ports, { id: messageId, tenant: aCommand().tenant }, "due");
    expect(record.wakeAt).toBe(ports.clock.now() + 30_000);
    expect(isIn(record, "due") && record.message.url).toBe(url);
  });
});
