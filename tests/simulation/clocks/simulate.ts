/**
 * Histories in which the clock of the store, which all processes use, is set: it is ahead by hours or days from the
 * beginning and is set back in the middle, or is set ahead there. Nothing else goes wrong, except that in half of
 * them a deliverer is killed at that moment. The checks are of a kind of their own, since those of other histories
 * compare times of the store with the world's.
 *
 * Accepted messages are delivered soon after, whatever their gates; no call is made twice because of a clock; windows
 * of deduplication end; finished records are swept.
 */
import { limits, type MessageId, type PublishCommand, skewMsMax } from "@posthaste/domain";
import { aCommand, aPolicy, aTenant, type Dice } from "@posthaste/testing";
import { recordText } from "../checks/at-rest.ts";
import { type Backend, embeddedBackend, modelBackend } from "../backend.ts";
import { answered } from "../clients.ts";
import { type Composition, composition, type Shape } from "../composition.ts";
import { type Simulated, type SimulationOptions } from "../stage.ts";
import { calm } from "../world/chaos.ts";
import { destinations, type Manner, urlOf } from "../world/destination.ts";
import { History } from "../world/history.ts";
import { type Environment } from "../world/node.ts";
import { World } from "../world/world.ts";

const hourMs = 3_600_000;
const settings = [
  { kind: "back", ms: hourMs / 6 },
  { kind: "back", ms: hourMs },
  { kind: "back", ms: 48 * hourMs },
  { kind: "ahead", ms: hourMs / 6 },
  { kind: "ahead", ms: hourMs },
  { kind: "ahead", ms: 48 * hourMs },
] as const;

const publishedForMs = 40_000;
const everyMsMax = 400;
/** Calls take up to 150 s; then a lease, and the rings before and after the ring that corrects alarms. */
const restWithinMs = 400_000;
const sweptWithinMs = limits.finishedKeepMs + 2 * limits.sweepEveryMs;
const clientTimeoutMs = 15_000;
const stepMs = 1_000;

export async function simulateClocks(options: SimulationOptions): Promise<Simulated> {
  const { seed, mutation, onTrace } = options;
  const world = new World(seed, onTrace);
  const history = new History();
  const chance = world.chanceOf();
  const shape: Shape = chance.chance(0.4) ? "standalone" : "distributed";
  const embedded = shape === "distributed" && mutation === undefined && chance.chance(0.4);
  const backend = embedded ? embeddedBackend(world) : modelBackend(world);
  const store = embedded ? "embedded" : "model";
  const environment: Environment = { world, history, troubles: () => calm };
  const setting = chance.pick(settings);
  const setAtMs = chance.integer(5_000, publishedForMs);
  const kills = shape === "distributed" && chance.chance(0.5);
  world.trace(`clocks: seed ${seed} ${shape} over the ${store} store, ${JSON.stringify(setting)}`);
  const meeting = destinations(environment);
  const composed = composition(shape, environment, backend, meeting, mutation);
  const accepted = new Map<MessageId, PublishCommand>();

  if (setting.kind === "back") world.setStore(setting.ms);
  for (const node of composed.nodes) node.start();
  await world.advance(100);
  publishAll(environment, composed, chance, accepted);
  world.after(setAtMs, () => {
    world.trace(`the clock is set ${setting.kind} by ${setting.ms} ms`);
    history.count(`clock.${setting.kind}`);
    world.setStore(setting.kind === "back" ? 0 : setting.ms);
    const victim = composed.nodes.find(({ name }) => name.startsWith("deliverer"));
    if (kills) victim?.crash("it is killed");
  });

  await world.advance(publishedForMs);
  const left = await untilDone(environment, backend, accepted);
  for (const record of await world.during(backend.records.get(aTenant, left)))
    if (record) history.violate("late", `not done at ${world.storeNow}: ${recordText(record)}`);
  if (!kills) checkCalledOnce(history);
  if (left.length === 0) {
    await checkWindows(environment, composed, accepted);
    await checkSwept(environment, backend, accepted);
  }
  await world.during(backend.close());
  return {
    of: "clocks",
    seed,
    shape,
    store,
    violations: history.violations,
    digest: world.digest(),
    tail: world.tail,
    counts: history.counts,
    planned: accepted.size,
    steps: world.steps,
  };
}

/**
 * Publishes some messages at once, some in queues, some by the rates of flow keys, with calls that end soon and calls that outlast their
 * leases.
 */
function publishAll(
  { world, history }: Environment,
  composed: Composition,
  chance: Dice,
  accepted: Map<MessageId, PublishCommand>,
): void {
  for (let at = 0, op = 1; at < publishedForMs; at += chance.integer(1, everyMsMax), op++) {
    const command = draw(op, chance);
    history.templates.set(op, command);
    world.after(at, () => {
      const [gateway] = composed.gateways();
      if (!gateway) return;
      void answered(world, clientTimeoutMs, gateway.publish(command)).then((answer) => {
        if (answer && "messageId" in answer) accepted.set(answer.messageId, command);
      });
    });
  }
}

function draw(op: number, chance: Dice): PublishCommand {
  const manner: Manner = chance.chance(0.15) ? "slow" : "good";
  const gate = chance.integer(0, 3);
  const key = `key-${chance.integer(1, 3)}`;
  return aCommand({
    tenant: aTenant,
    destination: { kind: "url", url: urlOf(manner, chance.integer(1, 20), `op-${op}`) },
    headers: [["Op", String(op)]],
    body: new TextEncoder().encode(JSON.stringify({ op })),
    policy: aPolicy({
      retriesMax: 3,
      ...(gate === 1 && { flow: { key, limits: { rate: 2, parallelism: 4, periodMs: 1_000 } } }),
    }),
    ...(gate === 2 && { queue: `queue-${chance.integer(1, 3)}` }),
    ...(gate === 3 && { deduplication: { kind: "explicit", id: `once-${op}` } }),
  });
}

/** Returns the messages that are not delivered when the time is up. */
async function untilDone(
  { world }: Environment,
  backend: Backend,
  accepted: ReadonlyMap<MessageId, PublishCommand>,
): Promise<readonly MessageId[]> {
  const until = world.elapsed + restWithinMs;
  let left: readonly MessageId[] = [...accepted.keys()];
  while (left.length > 0 && world.elapsed < until) {
    await world.advance(5 * stepMs);
    const found = await world.during(backend.records.get(aTenant, left));
    const open = new Set(
      found.flatMap((record) =>
        record && record.state.kind !== "delivered" ? record.message.id : [],
      ),
    );
    left = left.filter((id) => open.has(id));
  }
  return left;
}

/** All destinations answer, so each message is called once. */
function checkCalledOnce(history: History): void {
  for (const [id, calls] of Map.groupBy(history.exchanges, ({ id }) => id))
    if (calls.length > 1) history.violate("twice", `${id} was called ${calls.length} times`);
}

/** Checks windows late: a window made by a clock that was ahead by less than the window's length cannot be told from a valid one. */
async function checkWindows(
  { world, history }: Environment,
  composed: Composition,
  accepted: ReadonlyMap<MessageId, PublishCommand>,
): Promise<void> {
  await world.advance(2 * limits.deduplicationMs + skewMsMax);
  const [gateway] = composed.gateways();
  if (!gateway) throw new Error("a gateway runs");
  for (const command of accepted.values()) {
    if (!command.deduplication) continue;
    const answer = await world.during(gateway.publish(command));
    history.count("windows");
    if (!("deduplicated" in answer) || answer.deduplicated)
      history.violate("window", `${JSON.stringify(command.deduplication)} still holds`);
  }
}

async function checkSwept(
  { world, history }: Environment,
  backend: Backend,
  accepted: ReadonlyMap<MessageId, PublishCommand>,
): Promise<void> {
  await world.advance(sweptWithinMs + skewMsMax);
  const found = await world.during(backend.records.get(aTenant, [...accepted.keys()]));
  for (const record of found)
    if (record) history.violate("unswept", `${record.message.id} is still there`);
  history.count("swept", accepted.size);
}
