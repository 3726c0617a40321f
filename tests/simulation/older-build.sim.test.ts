/** Tests this build as the older one, over a store into which a newer build has written. */
import { expect, it } from "@jest/globals";
import {
  accept,
  flowLaneId,
  type FollowUp,
  limits,
  type MessageRecord,
  ownFormat,
} from "@posthaste/domain";
import { hintOf, wakeLane } from "@posthaste/engine";
import { type EventBus } from "@posthaste/ports";
import { aMessage, aRecordIn, aTenant, type MessageOverrides } from "@posthaste/testing";
import { type Backend, modelBackend } from "./backend.ts";
import { type Composition, composition } from "./composition.ts";
import { calm } from "./world/chaos.ts";
import { destinations } from "./world/destination.ts";
import { History } from "./world/history.ts";
import { type Environment } from "./world/node.ts";
import { World } from "./world/world.ts";

const newer = { format: ownFormat + 1 };
const flow = { key: "shared", limits: { parallelism: 5, periodMs: 1_000 } };
const lane = flowLaneId(aTenant, flow.key);

type Installation = {
  readonly world: World;
  readonly backend: Backend;
  readonly composed: Composition;
  readonly bus: EventBus;
  readonly put: (overrides: MessageOverrides) => Promise<MessageRecord>;
  readonly standing: (record: MessageRecord) => MessageRecord | undefined;
};

async function start(): Promise<Installation> {
  const world = new World(1);
  const environment: Environment = { world, history: new History(), troubles: () => calm };
  const backend = modelBackend(world);
  const composed = composition(
    "distributed",
    environment,
    backend,
    destinations(environment),
    undefined,
  );
  for (const node of composed.nodes) node.start();
  await world.advance(100);
  const life = composed.nodes[0]?.life;
  if (!life) throw new Error("no process runs");
  return {
    world,
    backend,
    composed,
    bus: composed.bus.portOf(life, (bus) => bus),
    put: async (overrides) => {
      const now = world.now;
      const record = accept(aMessage({ id: backend.ids.next(), now, ...overrides }), now);
      await world.during(backend.records.insert([{ record }], "new"));
      return record;
    },
    standing: ({ message }) => backend.model?.inspect.records.get(message.id),
  };
}

it("an older process delivers the records that it understands, and leaves newer records unchanged", async () => {
  const { world, backend, bus, put, standing } = await start();
  const known = await put({});
  const strangers = [
    await put(newer),
    await put({ ...newer, delayMs: 5_000 }),
    await put({ ...newer, flow }),
    await put({ flow }),
  ];
  const item: FollowUp = { kind: "callback", attempt: 0, endedAt: world.now, retried: 0, ...newer };
  const ended = aRecordIn(
    { kind: "delivered", endedAt: world.now },
    { id: backend.ids.next(), now: world.now, outbox: [item] },
  );
  await world.during(backend.records.insert([{ record: ended }], "new"));
  const rows = await world.during(backend.flowLanes.rows([lane]));
  const hints = [known, ...strangers].map(hintOf);

  await world.during(bus.publish("message.due", hints));
  await world.during(bus.publish("scheduler.wake", [wakeLane(lane, world.now)]));
  await world.advance(limits.ringAheadMs + 5_000);

  expect(standing(known)?.state.kind).toBe("delivered");
  for (const stranger of strangers) expect(standing(stranger)).toEqual(stranger);
  expect(await world.during(backend.flowLanes.rows([lane]))).toEqual(rows);
  expect(standing(ended)).toMatchObject({ state: { kind: "delivered" }, outbox: [item] });
});
