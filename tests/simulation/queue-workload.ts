/**
 * Clients of queues, in two of five seeds: each tenant has a narrow queue, which is paused now and then, and a wide
 * one, which may be deleted. Destinations are kind and retries few, since a line waits behind each message.
 */
import { type PublishCommand, queueId, type TenantId } from "@posthaste/domain";
import { anotherTenant, aTenant } from "@posthaste/testing";
import { type UntilDone } from "./clients.ts";
import { type Manner, urlOf } from "./world/destination.ts";
import { type QueuePausing } from "./world/history.ts";
import { type Environment } from "./world/node.ts";

export type QueueWorkload = {
  draw(command: PublishCommand, op: number): PublishCommand;
  start(spanMs: number, untilDone: UntilDone): void;
};

const tenants = [aTenant, anotherTenant] as const;
const kind: readonly [Manner, ...Manner[]] = ["good", "good", "slow", "flaky"];
const wideParallelism = 2;
/** Ends also a pause whose answer was lost, and which a stopped process has carried out late. */
const lastResumeMs = 400_000;

export function queueWorkload({ world, history }: Environment, always: boolean): QueueWorkload {
  const chance = world.chanceOf();
  const isOn = chance.chance(0.4) || always;
  const share = chance.chance(0.5) || always ? 0.8 : 0.3;

  const draw = (command: PublishCommand, op: number): PublishCommand => {
    if (!isOn || !chance.chance(share)) return command;
    const manner = chance.pick(kind);
    const url = urlOf(manner, chance.integer(1, 3), `op-${op}`);
    const destination =
      command.destination.kind === "url" ? { kind: "url" as const, url } : command.destination;
    const policy = { ...command.policy, timeoutMs: 15_000, retriesMax: chance.integer(0, 1) };
    const { postponement: _, ...now } = command;
    return {
      ...(chance.chance(0.2) ? command : now),
      destination,
      queue: chance.pick(["narrow", "wide"]),
      policy: { ...policy, retryDelay: "500" },
    };
  };

  /** Pauses each queue once: the late end of one pause would end another. */
  const pauseForAWhile = async (tenant: TenantId, untilDone: UntilDone): Promise<void> => {
    const name = "narrow";
    await untilDone((gateway) => gateway.putQueue(tenant, { queueName: name, paused: true }));
    const pausing: QueuePausing = { lane: queueId(tenant, name), from: world.now, to: Infinity };
    history.queuePauses.push(pausing);
    world.trace(`${pausing.lane} is paused`);
    await world.wait(chance.integer(5_000, 40_000));
    pausing.to = world.now;
    await untilDone((gateway) => gateway.resumeQueue(tenant, name));
  };

  const deleteOne = async (untilDone: UntilDone): Promise<void> => {
    const [tenant, name] = [chance.pick(tenants), "wide"];
    const askedAt = world.now;
    let asked = 0;
    await untilDone((gateway) => {
      asked += 1;
      return gateway.endQueue(tenant, name);
    });
    const ended = { lane: queueId(tenant, name), askedAt, answeredAt: world.now };
    history.queueEnds.push({ ...ended, isOnce: asked === 1 });
    world.trace(`${queueId(tenant, name)} is deleted`);
  };

  return {
    draw,
    start: (spanMs, untilDone) => {
      if (!isOn) return;
      for (const tenant of tenants) {
        history.narrowQueues.add(queueId(tenant, "narrow"));
        const wide = { queueName: "wide", parallelism: wideParallelism };
        void untilDone((gateway) => gateway.putQueue(tenant, wide));
        world.after(spanMs + lastResumeMs, () => {
          void untilDone((gateway) => gateway.resumeQueue(tenant, "narrow"));
        });
      }
      for (const tenant of tenants)
        if (chance.chance(0.5) || always)
          world.after(chance.integer(0, spanMs), () => void pauseForAWhile(tenant, untilDone));
      if (chance.chance(0.4) || always)
        world.after(chance.integer(spanMs / 4, spanMs), () => void deleteOne(untilDone));
    },
  };
}
