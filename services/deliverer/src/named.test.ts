/** What gateways name this deliverer for, over the embedded store: the roster is the test's. */
import { describe, expect, it } from "@jest/globals";
import { acceptNamed, type InState, limits, owner, type Owner } from "@posthaste/domain";
import { hintOf } from "@posthaste/engine";
import { type RosterEntry } from "@posthaste/ports";
import { aMessage, type MessageOverrides } from "@posthaste/testing";
import {
  answer,
  called,
  named,
  open,
  type Ports,
  read,
  rest,
  startDeliverer,
  stateOf,
} from "./opened.fixture.ts";

const [here, another] = [owner("here"), owner("another")];

async function insertNamed(
  ports: Ports,
  name: string,
  by: Owner = here,
  overrides: MessageOverrides = {},
): Promise<InState<"claimed">> {
  const now = ports.clock.now();
  const message = aMessage({ id: ports.newId(), now, ...named(name), ...overrides });
  const record = acceptNamed(message, by, now);
  await ports.records.insert([{ record }]);
  return record;
}

async function tell(ports: Ports, ...records: readonly InState<"claimed">[]): Promise<void> {
  const hints = records.map((record) => ({ ...hintOf(record), record }));
  await ports.bus.publish("message.due", hints);
  await rest(ports);
}

describe("a message that was claimed by its insert for this deliverer", () => {
  it("is called and settled without a claim", async () => {
    const ports = open();
    let claims = 0;
    const claim: Ports["records"]["claim"] = (...given) => {
      claims += 1;
      return ports.records.claim(...given);
    };
    await startDeliverer({ ...ports, records: { ...ports.records, claim } });
    const record = await insertNamed(ports, "a");
    await tell(ports, record);
    await answer(ports, "a");

    expect(called(ports)).toEqual(["a"]);
    expect(await stateOf(ports, record.message)).toBe("delivered");
    expect(claims).toBe(0);
  });

  it("runs once however often it is told, also when it has ended", async () => {
    const ports = open();
    await startDeliverer(ports);
    const record = await insertNamed(ports, "a");
    await tell(ports, record, record);
    await tell(ports, record);
    await answer(ports, "a");
    await tell(ports, record);

    expect(called(ports)).toEqual(["a"]);
  });

  it("waits here for a slot, and keeps its claim as long as that takes", async () => {
    const ports = open();
    await startDeliverer(ports, { shortMax: 1, waitingMax: 0 });
    const records = [await insertNamed(ports, "a"), await insertNamed(ports, "b")];
    await tell(ports, ...records);
    await ports.clock.advance(2 * limits.leaseMs);
    expect(called(ports)).toEqual(["a"]);

    await answer(ports, "a");
    await answer(ports, "b");

    expect(called(ports)).toEqual(["a", "b"]);
    for (const { message } of records) expect(await stateOf(ports, message)).toBe("delivered");
  });

  it("is left to its alarm when it is told near the end of its lease, and claimed then", async () => {
    const ports = open();
    await startDeliverer(ports);
    const record = await insertNamed(ports, "a");
    await ports.clock.advance(limits.namedLeaseMs - limits.leaseSafetyMs);
    await tell(ports, record);
    expect(called(ports)).toEqual([]);

    await ports.clock.advance(limits.leaseSafetyMs + 1);

    expect(called(ports)).toEqual(["a"]);
    expect((await read(ports, record.message)).epoch).toBe(2);
  });

  it("goes back where its tenant's calls are capped, to be claimed within the cap", async () => {
    const ports = open();
    await startDeliverer(ports, {}, { capOf: () => 1 });
    const record = await insertNamed(ports, "a");
    await tell(ports, record);

    const { state, leaseLosses } = await read(ports, record.message);
    expect(state.kind).toBe("held");
    expect(leaseLosses).toBeLessThanOrEqual(0);
  });

  it("is told to the log once it has been under way for a second, redacted as all is", async () => {
    const ports = open();
    const told: string[] = [];
    await ports.bus.subscribe("message.accepted", "test", async (events) => {
      told.push(...events.map(({ message }) => message.id));
    });
    await startDeliverer(ports);
    const [quick, slow] = [await insertNamed(ports, "a"), await insertNamed(ports, "b")];
    await tell(ports, quick, slow);
    await answer(ports, "a");
    await ports.clock.advance(5_000);

    expect(told).toEqual([slow.message.id]);
  });
});

it("one that is named for another deliverer is left to that until its lease has ended", async () => {
  const ports = open();
  await startDeliverer(ports);
  const record = await insertNamed(ports, "a", another);
  await tell(ports, record);
  await ports.clock.advance(limits.namedLeaseMs - 1);
  expect(called(ports)).toEqual([]);

  await ports.clock.advance(2);

  expect(called(ports)).toEqual(["a"]);
});

describe("the roster", () => {
  function rostered() {
    const said: (RosterEntry | "left")[] = [];
    const roster = {
      announce: async (entry: RosterEntry) => void said.push(entry),
      leave: async () => void said.push("left"),
    };
    return { said, roster };
  }

  it("hears once a second that this deliverer is there", async () => {
    const { said, roster } = rostered();
    const ports = open();
    const deliverer = await startDeliverer({ ...ports, roster });
    await ports.clock.advance(3_000);

    expect(said.length).toBeGreaterThanOrEqual(3);
    expect(said.at(-1)).toMatchObject({ owner: deliverer.owner, isOpen: true });
  });

  it("is left before the deliverer takes nothing more: what is named for it meanwhile is called", async () => {
    const { said, roster } = rostered();
    const ports = open();
    const deliverer = await startDeliverer({ ...ports, roster });
    const stopped = deliverer.stop();
    await rest(ports);
    expect(said.at(-1)).toBe("left");
    await tell(ports, await insertNamed(ports, "a"));
    expect(called(ports)).toEqual(["a"]);
    await answer(ports, "a");
    await ports.clock.advance(5_000);
    await stopped;

    expect(said.at(-1)).toBe("left");
  });
});
