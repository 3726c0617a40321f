/**
 * Most clients, in one of four seeds: many plain messages, one after another, to destinations that answer. Meanwhile the deliverers are
 * restarted in turn, in good order, and one is killed, perhaps while its clock is ahead.
 */
import { type PublishCommand } from "@posthaste/domain";
import { aCommand, aPolicy, aTenant, type Dice } from "@posthaste/testing";
import { answered, anyOf } from "./clients.ts";
import { type Composition } from "./composition.ts";
import { urlOf } from "./world/destination.ts";
import { type Environment, type SimulatedNode } from "./world/node.ts";

export type PlainWorkload = {
  /** When the last message is published, since the beginning. */
  readonly lastAtMs: number;
  start(composed: Composition): void;
};

const spanMs = 60_000;
const everyMsMax = 300;
const restartEveryMs = 6_000;
const killedAtMs = 20_000;
const aheadMs = 90_000;
const aheadForMs = 3_000;
const hosts = 6;
/** Far above the numbers of other publishes. */
const opsFrom = 2_000_000;
const clientTimeoutMs = 15_000;

export function plainWorkload(
  { world, history }: Environment,
  chance: Dice,
  always: boolean,
): PlainWorkload {
  const isOn = chance.chance(0.25) || always;
  let ops = 0;

  const draw = (): PublishCommand => {
    const op = opsFrom + ops++;
    const command = aCommand({
      tenant: aTenant,
      destination: { kind: "url", url: urlOf("good", chance.integer(11, 10 + hosts), `op-${op}`) },
      headers: [["Op", String(op)]],
      body: new TextEncoder().encode(JSON.stringify({ op })),
      policy: aPolicy({ retriesMax: 3 }),
    });
    history.templates.set(op, command);
    return command;
  };

  const publishOn = (composed: Composition): void => {
    const gateway = anyOf(chance, composed.gateways());
    if (gateway) void answered(world, clientTimeoutMs, gateway.publish(draw()));
  };

  const killIt = (node: SimulatedNode | undefined): void => {
    if (!node?.isUp || node.skewMs !== 0) return;
    if (chance.chance(0.5)) {
      node.skewMs = aheadMs;
      history.fault("clock", node.name, world.now, world.now + aheadForMs);
    }
    world.after(aheadForMs, () => node.crash("it is killed"));
  };

  const during = (everyMs: () => number, task: (nth: number) => void): void => {
    for (let at = everyMs(), nth = 0; at < spanMs; at += everyMs(), nth++)
      world.after(at, () => task(nth));
  };

  return {
    lastAtMs: isOn ? spanMs : 0,
    start: (composed) => {
      if (!isOn) return;
      const deliverers = composed.nodes.filter(({ name }) => name.startsWith("deliverer"));
      during(
        () => chance.integer(1, everyMsMax),
        () => publishOn(composed),
      );
      world.after(killedAtMs, () => killIt(deliverers[0]));
      during(
        () => restartEveryMs,
        (nth) => {
          // One at a time, as a rolling update does.
          if (deliverers.every(({ isUp }) => isUp)) deliverers[nth % deliverers.length]?.restart();
        },
      );
    },
  };
}
