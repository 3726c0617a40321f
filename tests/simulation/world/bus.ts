/** The bus between simulated processes: hints may be lost, come late and come twice; facts come at least once. */
import { allShards } from "@posthaste/domain";
import {
  type EventBus,
  type Handler,
  type SubscribeOptions,
  type Topic,
  type Topics,
} from "@posthaste/ports";
import { type Dice } from "@posthaste/testing";
import { type Environment, type Life } from "./node.ts";

/** `watch` is at the bus's end of the wire. A wake is sent to a process that has the shard. */
export type SimulatedBus = {
  /** Accepts nothing and hands nothing over for `ms`; processes notice a little later. */
  goAway(ms: number): void;
  portOf(life: Life, watch: (bus: EventBus) => EventBus, shards?: readonly number[]): EventBus;
};

type Member = {
  readonly life: Life;
  /** The partition whose events the member receives, as long as the process lives. */
  readonly partition: number;
  readonly shards: ReadonlySet<number> | undefined;
  readonly hear: (events: readonly unknown[]) => Promise<void>;
};

const redeliverMs = 10_000;
const nobodyMs = 500;
const noticeMsMax = 2_000;

/** `local`: hints are handed over inside one process, where none is lost. */
export function simulatedBus(
  environment: Environment,
  options: { readonly local: boolean },
): SimulatedBus {
  const { world, history, troubles } = environment;
  const chance = world.chanceOf();
  const groups = new Map<Topic, Map<string, Member[]>>();
  let partitions = 0;
  let awayUntil = 0;
  let knownAway: { readonly from: number; readonly to: number } = { from: 0, to: 0 };
  const isAway = (): boolean => world.now < awayUntil;
  const looksUp = (): boolean => world.now < knownAway.from || world.now >= knownAway.to;

  const membersOf = (topic: Topic, group: string): readonly Member[] =>
    (groups.get(topic)?.get(group) ?? []).filter(({ life }) => !life.hasEnded);

  const publishFact = (
    topic: Topic,
    group: string,
    events: readonly unknown[],
    waitMs = nobodyMs,
  ): void => {
    const members = membersOf(topic, group);
    const member = members[chance.integer(0, Math.max(0, members.length - 1))];
    if (isAway() || !member) {
      const nextMs = Math.min(2 * waitMs, redeliverMs);
      world.after(waitMs, () => publishFact(topic, group, events, nextMs));
      return;
    }
    let heard = false;
    const again = world.after(redeliverMs, () => heard || publishFact(topic, group, events));
    const done = (): void => {
      heard = true;
      again();
    };
    // A handler that rejects is called again when its time is up.
    world.after(latencyMs(chance), () =>
      member.life.deliver(() => void member.hear(events).then(done, () => undefined)),
    );
    if (chance.chance(troubles().duplicateHint))
      world.after(latencyMs(chance) * 50, () =>
        member.life.deliver(() => void member.hear(events).catch(() => undefined)),
      );
  };

  const publishHint = (topic: Topic, group: string, event: unknown): void => {
    const copies = chance.chance(troubles().duplicateHint) ? 2 : 1;
    for (let copy = 0; copy < copies; copy++) {
      if (isAway()) continue;
      if (chance.chance(troubles().lostHint)) {
        history.fault("hint", undefined, world.now, world.now);
        world.trace(`a hint ${topic} is lost`);
        continue;
      }
      const delayMs = chance.chance(troubles().delayedHint)
        ? chance.integer(10, 40_000)
        : latencyMs(chance);
      if (delayMs > latencyMsMax) history.fault("hint", undefined, world.now, world.now + delayMs);
      world.after(delayMs, () => {
        const members = membersOf(topic, group).filter(({ shards }) => isFor(shards, event));
        const addressed = members.find(({ partition }) => partition === partitionOf(event));
        // A partition may have moved.
        const isMoved = chance.chance(troubles().delayedHint);
        if (isMoved) history.fault("hint", undefined, world.now, world.now);
        const any = members[chance.integer(0, Math.max(0, members.length - 1))];
        const member = isMoved ? any : (addressed ?? any);
        // The processes that would receive it have all left, or have not joined yet.
        if (!member) history.fault("hint", undefined, world.now, world.now);
        else member.life.deliver(() => void member.hear([event]).catch(() => undefined));
      });
    }
  };

  const handOver = (topic: Topic, group: string, events: readonly unknown[]): void => {
    for (const member of membersOf(topic, group)) {
      world.after(0, () =>
        member.life.deliver(() => void member.hear(events).catch(() => undefined)),
      );
    }
  };

  const publish = async <T extends Topic>(
    topic: T,
    events: readonly Topics[T][],
  ): Promise<void> => {
    if (isAway() && topic === "message.settled") throw new Error("the bus is away");
    for (const group of groups.get(topic)?.keys() ?? []) {
      if (topic === "message.settled") publishFact(topic, group, events);
      else if (options.local) handOver(topic, group, events);
      else for (const event of events) publishHint(topic, group, event);
    }
  };

  const subscribe = async <T extends Topic>(
    member: { readonly life: Life; readonly shards: ReadonlySet<number> | undefined },
    topic: T,
    group: string,
    handle: Handler<T>,
    { assigned, owns }: SubscribeOptions = {},
  ): Promise<() => Promise<void>> => {
    owns?.(member.shards ? [...member.shards] : allShards);
    const partition = ++partitions;
    assigned?.([partition]);
    const byGroup = groups.get(topic) ?? new Map<string, Member[]>();
    groups.set(topic, byGroup);
    // Members of a topic receive the events published to it, so the types match.
    const joined: Member = {
      ...member,
      partition,
      hear: (events) => handle(events as readonly Topics[T][]),
    };
    byGroup.set(group, [...membersOf(topic, group), joined]);
    return async () => {
      byGroup.set(
        group,
        membersOf(topic, group).filter((other) => other !== joined),
      );
    };
  };

  return {
    goAway: (ms) => {
      world.trace(`the bus is away for ${ms} ms`);
      history.fault("outage", undefined, world.now, world.now + ms);
      awayUntil = world.now + ms;
      knownAway = {
        from: world.now + chance.integer(0, noticeMsMax),
        to: awayUntil + chance.integer(0, noticeMsMax),
      };
    },
    portOf: (life, watch, shards) => {
      const member = { life, shards: shards && new Set(shards) };
      const watched = watch({
        publish,
        subscribe: (...given) => subscribe(member, ...given),
        isUp: looksUp,
        freeRecordBytes: () => Number.POSITIVE_INFINITY,
        hears: looksUp,
      });
      const wire = life.remote("bus", watched);
      return {
        publish: (topic, events) => wire.publish(topic, events),
        // A subscription is not a call that may fail: a process without one would be another composition.
        subscribe: (...given) => watched.subscribe(...given),
        isUp: () => watched.isUp(),
        freeRecordBytes: () => watched.freeRecordBytes(),
        hears: (topic) => watched.hears(topic),
      };
    },
  };
}

const partitionOf = (event: unknown): unknown =>
  typeof event === "object" && event !== null && "to" in event ? event.to : undefined;

const latencyMsMax = 4;
const latencyMs = (chance: Dice): number => chance.fraction() * latencyMsMax;

function isFor(shards: ReadonlySet<number> | undefined, event: unknown): boolean {
  if (!shards || typeof event !== "object" || event === null || !("shard" in event)) return true;
  return typeof event.shard === "number" && shards.has(event.shard);
}
