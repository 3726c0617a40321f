import { describe, expect, it } from "@jest/globals";
import { type FlowLimits, flowLaneId, type Message, type MessageId } from "@posthaste/domain";
import { type FlowLanes, StoreError, type TokenStore } from "@posthaste/ports";
import { aMessage, aTenant } from "@posthaste/testing";
import { insert, open, type Ports, rest } from "../opened.fixture.ts";
import { grant } from "./grant.ts";
import { takeSlots } from "./slots.ts";

const key = "tight";
const lane = flowLaneId(aTenant, key);
const two: FlowLimits = { parallelism: 2, periodMs: 1_000 };

/** Returns a message that is not inserted yet. */
const newMessage = ({ clock, ids }: Ports, limits = two): Message =>
  aMessage({ id: ids.next(), now: clock.now(), flow: { key, limits } });

const some = (ports: Ports, count: number): readonly Message[] =>
  Array.from({ length: count }, () => newMessage(ports));

const idsOf = (messages: readonly Message[]): readonly MessageId[] => messages.map(({ id }) => id);

const taking = async (
  ports: Ports,
  messages: readonly Message[],
): Promise<readonly MessageId[]> => [...(await takeSlots(ports, messages))];

const withLanes = (ports: Ports, other: Partial<FlowLanes>): Ports => ({
  ...ports,
  flowLanes: { ...ports.flowLanes, ...other },
});

const withTokens = (ports: Ports, other: Partial<TokenStore>): Ports => ({
  ...ports,
  tokens: { ...ports.tokens, ...other },
});

const deliverAll = async ({ flowLanes, tokens }: Ports): Promise<void> => {
  await tokens.release(
    lane,
    (await flowLanes.slotHolders(lane)).map(({ id }) => id),
  );
};

const away = () => Promise.reject(new StoreError("unavailable", "away"));

describe("slots that publishes take", () => {
  it("are as many as are free, for the first of them, also of a key without a row", async () => {
    const ports = open();
    const messages = some(ports, 3);

    expect(await taking(ports, messages)).toEqual(idsOf(messages).slice(0, 2));
    expect(await taking(ports, some(ports, 1))).toEqual([]);
  });

  it("are refused while the line has a message", async () => {
    const ports = open();
    await insert(ports, { flow: { key, limits: two } });

    expect(await taking(ports, some(ports, 1))).toEqual([]);
  });

  it("are given again once the line is empty, also if its alarm is still set", async () => {
    const ports = open();
    await insert(ports, { flow: { key, limits: two } });
    await grant(ports, lane);
    await rest(ports);

    expect(await taking(ports, some(ports, 2))).toHaveLength(1);
    await ports.flowLanes.resume({ lane, tenant: aTenant, key, limits: two, shard: 0, format: 1 });
    expect((await ports.flowLanes.rows([lane]))[0]?.wakeAt).toBeDefined();
    await deliverAll(ports);
    expect(await taking(ports, some(ports, 3))).toHaveLength(1);
  });

  it("are refused for a paused key", async () => {
    const ports = open();
    const [message] = some(ports, 1);
    const flow = { lane, tenant: aTenant, key, limits: two, shard: 0, format: 1 };
    await ports.flowLanes.pause(flow);

    expect(await taking(ports, message ? [message] : [])).toEqual([]);
  });

  it("are refused if the messages of a batch bring different limits", async () => {
    const ports = open();

    expect(
      await taking(ports, [newMessage(ports), newMessage(ports, { ...two, parallelism: 3 })]),
    ).toEqual([]);
  });

  it("are refused if the token store has forgotten the lane, until a grant has restored it from the records", async () => {
    const ports = open();
    await insert(ports, { flow: { key, limits: two } });
    await grant(ports, lane);
    const forgetful = { ...ports, tokens: open(ports.clock).tokens };
    expect(await taking(forgetful, some(ports, 1))).toEqual([]);

    await insert(ports, { flow: { key, limits: two } });
    await grant(forgetful, lane);

    expect(await taking(forgetful, some(ports, 1))).toEqual([]);
    await deliverAll(forgetful);
    expect(await taking(forgetful, some(ports, 3))).toHaveLength(2);
  });

  it.each([
    ["tokens", (ports: Ports) => withTokens(ports, { acquire: away })],
    ["records", (ports: Ports) => withLanes(ports, { rows: away })],
  ])("are refused while the store of %s is away", async (_, without) => {
    const ports = open();

    expect(await taking(without(ports), some(ports, 1))).toEqual([]);
  });
});
