/** The clients: publishes of every kind with repeats after unknown outcomes, reads of just accepted messages, cancels. */
import {
  type CallbackPlan,
  type Deduplication,
  flowLaneId,
  type FlowLimits,
  isFault,
  type MessageId,
  type Method,
  type Policy,
  type PublishCommand,
  type TenantId,
} from "@posthaste/domain";
import { aCommand, anotherTenant, aPolicy, aTenant, type Dice } from "@posthaste/testing";
import { type BulkWorkload } from "./bulk-workload.ts";
import { answered, anyOf, type Ask, type Gateways, untilAnswered } from "./clients.ts";
import { queueWorkload } from "./queue-workload.ts";
import { type Manner, urlOf } from "./world/destination.ts";
import { type Publication } from "./world/history.ts";
import { type Environment } from "./world/node.ts";

export type Workload = {
  /** When the last planned operation begins, since the beginning. */
  readonly lastAtMs: number;
  readonly planned: number;
  readonly groups: readonly {
    readonly tenant: TenantId;
    readonly name: string;
    readonly endpoints: readonly { url: string; name?: string }[];
  }[];
  /** Puts all operations on the world's clock. */
  start(gateways: Gateways): void;
  /** The longest time that a message may take from its publish when nothing goes wrong. */
  readonly longestMs: number;
};

const clientTimeoutMs = 15_000;
const triesMax = 8;
const tenants = [aTenant, anotherTenant] as const;
const methods: readonly [Method, ...Method[]] = ["POST", "GET", "PUT", "PATCH", "DELETE"];
const friendly: readonly [Manner, ...Manner[]] = ["good", "good", "good", "slow"];
const hostile: readonly [Manner, ...Manner[]] = [
  "good",
  "flaky",
  "bad",
  "final",
  "later",
  "slow",
  "hang",
  "long",
  "broken",
  "ours",
];
const hourMs = 3_600_000;

export function workload(
  environment: Environment,
  backendIsSlow: boolean,
  bulk: BulkWorkload,
  alwaysQueues: boolean,
): Workload {
  const { world, history } = environment;
  const chance = world.chanceOf();
  const publishes = chance.integer(25, 70);
  const spanMs = chance.pick([20_000, 60_000, 120_000]);
  const manners = chance.chance(0.75) ? hostile : friendly;
  const changingLimits = chance.chance(0.3);
  const withLongDelay = chance.chance(0.1);
  const withSecondWindow = chance.chance(0.15);
  const groups = drawGroups(chance, backendIsSlow);
  const keys = drawKeys(chance);
  // In some seeds nearly all messages are in one line.
  const hotLane = chance.chance(0.3);
  const longestMs = 1_800_000 + (withLongDelay ? 2 * hourMs : 0);
  const pauses = world.chanceOf();
  const queueing = queueWorkload(environment, alwaysQueues);
  const pauseCount = pauses.chance(0.4) ? pauses.integer(1, 3) : 0;
  const pins = pauses.chance(0.4);

  const draw = (op: number): PublishCommand => {
    const tenant = chance.pick(tenants);
    const group =
      groups[0]?.tenant === tenant && chance.chance(groupShare(groups)) ? groups[0] : undefined;
    const manner = chance.pick(manners);
    const url = urlOf(manner, chance.integer(1, 3), `op-${op}`);
    const deduplication = drawDeduplication(chance, op);
    const policy = drawPolicy(chance, op, manner, { keys, changingLimits, hotLane });
    const longDelay = withLongDelay && chance.chance(0.1);
    return aCommand({
      tenant,
      destination: group ? { kind: "group", name: group.name } : { kind: "url", url },
      method: chance.pick(methods),
      headers: [
        ["Content-Type", "application/json"],
        ["Op", String(op)],
      ],
      body: new TextEncoder().encode(
        JSON.stringify({ op, more: "x".repeat(chance.integer(0, 50)) }),
      ),
      policy: group && group.endpoints.length > laneGroupMax ? withoutFlow(policy) : policy,
      ...(longDelay
        ? { postponement: { kind: "delay" as const, delayMs: 2 * hourMs } }
        : chance.chance(0.25) && drawPostponement(chance, world.now)),
      ...(deduplication && { deduplication }),
    });
  };

  const run = async (command: PublishCommand, op: number, gateways: Gateways): Promise<void> => {
    const publication: Publication = {
      op,
      command,
      deduplicationScope: scopeOf(command),
      tries: [],
      acks: [],
      settledAt: undefined,
    };
    history.publications.push(publication);
    const twice = command.deduplication !== undefined && chance.chance(0.3);
    await Promise.all([
      publishUntilKnown(publication, gateways),
      twice && publishUntilKnown(publication, gateways),
    ]);
    publication.settledAt = world.now;
  };

  const publishUntilKnown = async (publication: Publication, gateways: Gateways): Promise<void> => {
    for (let tries = 0; tries < triesMax; tries++) {
      const known = await publishOnce(publication, gateways);
      // Without a deduplication id a repeat would be another message, so such a client gives up.
      if (
        known === "acked" ||
        (known === "unknown" && publication.command.deduplication === undefined)
      )
        return;
      await world.wait(chance.integer(100, 3_000));
    }
  };

  const publishOnce = async (
    publication: Publication,
    gateways: Gateways,
  ): Promise<"acked" | "unknown" | "refused"> => {
    const gateway = anyOf(chance, gateways());
    if (!gateway) return "refused";
    const startedAt = world.now;
    publication.tries.push({ startedAt, gateway: gateway.node });
    const answer = await answered(world, clientTimeoutMs, gateway.publish(publication.command));
    if (answer === undefined) return "unknown";
    if (isFault(answer))
      return answer.fault === "outcome_unknown" || answer.fault === "overloaded"
        ? "unknown"
        : "refused";
    const answers = "messageId" in answer ? [answer] : answer;
    world.trace(
      `op ${publication.op} is accepted as ${answers
        .map(({ messageId }) => messageId)
        .slice(0, 3)
        .join(" ")}`,
    );
    history.count("acked");
    publication.acks.push({
      at: world.now,
      startedAt,
      gateway: gateway.node,
      answers: answers.map(({ messageId, url, deduplicated }) => ({
        id: messageId,
        url,
        deduplicated,
      })),
    });
    const one = anyOf(chance, answers);
    if (!one) return "acked";
    if (chance.chance(0.3)) void readBack(publication.command.tenant, one.messageId, gateways);
    if (chance.chance(0.12))
      world.after(
        chance.integer(0, 20_000),
        () => void cancel(publication.command.tenant, one.messageId, gateways),
      );
    return "acked";
  };

  /** C16: the message is found through any gateway, at least until it may have been swept. */
  const readBack = async (tenant: TenantId, id: MessageId, gateways: Gateways): Promise<void> => {
    const gateway = anyOf(chance, gateways());
    if (!gateway) return;
    const acceptedAt = world.now;
    const answer = await answered(world, clientTimeoutMs, gateway.read(tenant, id));
    const life = history.lives.get(id)?.[0]?.at ?? acceptedAt;
    if (answer === undefined || world.now > Math.min(life, acceptedAt) + 25_000) return;
    history.count("reads");
    // The time of the sweep depends on the clocks that wrote its times.
    const clocksWereRight = !history.faults.some(({ kind }) => kind === "clock");
    if (answer === "nothing" && clocksWereRight)
      history.violate("C16", `${id} was accepted and is not found`);
  };

  const cancel = async (tenant: TenantId, id: MessageId, gateways: Gateways): Promise<void> => {
    const gateway = anyOf(chance, gateways());
    if (!gateway) return;
    history.askedCancels.add(id);
    const canceled = await answered(world, clientTimeoutMs, gateway.cancel(tenant, id));
    if (!canceled) return;
    history.count("canceled");
    world.trace(`${id} is canceled, says ${gateway.node}`);
    const known = history.cancels.get(id);
    if (known) known.ackedAt ??= world.now;
    else history.violate("C5", `${id} was said to be canceled and is not`);
  };

  /** Pauses one of six lanes; the n-th pause of a seed is of another lane than the one before. */
  const pauseForAWhile = async (nth: number, gateways: Gateways): Promise<void> => {
    const tenant = pauses.pick(tenants);
    const { key } = keys[nth % keys.length] ?? keys[0];
    const lane = flowLaneId(tenant, key);
    await untilDone(gateways, (gateway) => gateway.pause(tenant, key));
    const pausing = { lane, from: world.now, to: Infinity };
    history.pauses.push(pausing);
    history.count("pauses");
    world.trace(`${lane} is paused`);
    await world.wait(pauses.integer(15_000, 60_000));
    pausing.to = world.now;
    await untilDone(gateways, (gateway) => gateway.resume(tenant, key));
    world.trace(`${lane} is resumed`);
  };

  const pinForAWhile = async (gateways: Gateways): Promise<void> => {
    const tenant = pauses.pick(tenants);
    const { key } = pauses.pick(keys);
    const lane = flowLaneId(tenant, key);
    const parallelism = pauses.integer(1, 3);
    await untilDone(gateways, (gateway) => gateway.pin(tenant, key, parallelism));
    const pinning = { lane, parallelism, from: world.now, to: Infinity };
    history.pins.push(pinning);
    world.trace(`${lane} is pinned to ${parallelism}`);
    await world.wait(pauses.integer(15_000, 90_000));
    pinning.to = world.now;
    await untilDone(gateways, (gateway) => gateway.unpin(tenant, key));
    world.trace(`${lane} is unpinned`);
  };

  const untilDone = <T>(gateways: Gateways, ask: Ask<T>): Promise<T> =>
    untilAnswered({ world, chance: pauses, gateways, timeoutMs: clientTimeoutMs }, ask);

  const lastAtMs = spanMs + (withSecondWindow ? 660_000 : 0);
  return {
    lastAtMs,
    planned: publishes,
    groups,
    longestMs,
    start: (gateways) => {
      for (let op = 0; op < publishes; op++) {
        const again = withSecondWindow && op % 5 === 0 ? 660_000 : 0;
        world.after(
          chance.integer(0, spanMs) + again,
          () => void run(bulk.draw(queueing.draw(draw(op), op)), op, gateways),
        );
      }
      bulk.start(spanMs, (ask) => untilDone(gateways, ask));
      queueing.start(spanMs, (ask) => untilDone(gateways, ask));
      for (let nth = 0; nth < pauseCount; nth++)
        world.after(pauses.integer(0, spanMs), () => void pauseForAWhile(nth, gateways));
      if (pins) world.after(pauses.integer(0, spanMs / 2), () => void pinForAWhile(gateways));
    },
  };
}

const scopeOf = ({ tenant, destination, deduplication }: PublishCommand): string | undefined =>
  deduplication?.kind === "explicit"
    ? `${tenant} ${deduplication.id} ${destination.kind === "group" ? destination.name : ""}`
    : undefined;

function drawDeduplication(chance: Dice, op: number): Deduplication | undefined {
  const draw = chance.integer(0, 9);
  if (draw === 0) return { kind: "content" };
  if (draw === 1) return { kind: "explicit", id: `shared-${chance.integer(0, 2)}` };
  return draw <= 4 ? { kind: "explicit", id: `op-${op}` } : undefined;
}

function drawPostponement(chance: Dice, now: number): Pick<PublishCommand, "postponement"> {
  const ms = chance.integer(0, 60_000);
  return chance.chance(0.5)
    ? { postponement: { kind: "delay", delayMs: ms } }
    : { postponement: { kind: "notBefore", at: now + ms - 5_000 } };
}

const groupShare = ([group]: Workload["groups"]): number =>
  group && group.endpoints.length > laneGroupMax ? 0.06 : 0.2;

/** A large group behind a narrow lane takes hours, which shows nothing. */
const laneGroupMax = 20;
const withoutFlow = ({
  flow: _,
  callback: _callback,
  failureCallback: _failure,
  ...policy
}: Policy): Policy => policy;

type Key = { readonly key: string; readonly limits: FlowLimits };

function drawKeys(chance: Dice): readonly [Key, ...Key[]] {
  const limitsOf = (): FlowLimits => {
    const parallelism = chance.chance(0.7) ? chance.integer(1, 3) : undefined;
    const rate = parallelism === undefined || chance.chance(0.4) ? chance.integer(2, 6) : undefined;
    const periodMs = chance.pick([1_000, 5_000, 20_000]);
    return {
      periodMs,
      ...(parallelism !== undefined && { parallelism }),
      ...(rate !== undefined && { rate }),
    };
  };
  return [
    { key: "alpha", limits: limitsOf() },
    { key: "beta", limits: limitsOf() },
    { key: "gamma", limits: limitsOf() },
  ];
}

type Lanes = {
  readonly keys: readonly [Key, ...Key[]];
  readonly changingLimits: boolean;
  readonly hotLane: boolean;
};

function drawPolicy(
  chance: Dice,
  op: number,
  manner: Manner,
  { keys, changingLimits, hotLane }: Lanes,
): Policy {
  const timeoutMs = manner === "long" ? 300_000 : chance.pick([5_000, 15_000, 60_000]);
  const retriesMax = chance.integer(0, 3);
  const backsOff = retriesMax <= 2 && chance.chance(0.2);
  const inLane = chance.chance(hotLane ? 0.9 : 0.35);
  const key = inLane ? (hotLane ? keys[0] : chance.pick(keys)) : undefined;
  const limits =
    key &&
    (changingLimits && chance.chance(0.3)
      ? { ...key.limits, parallelism: chance.integer(1, 5) }
      : key.limits);
  const callbackPlan = (kind: string): CallbackPlan => ({
    url: urlOf(chance.pick(["good", "good", "flaky", "bad"]), 9, `${kind}-${op}`),
    method: "POST",
    headers: [["Op", String(op)]],
    delayMs: chance.chance(0.2) ? chance.integer(100, 5_000) : 0,
    timeoutMs: 30_000,
    retryDelay: "1000",
    ...(chance.chance(0.2) && { flow: chance.pick(keys) }),
  });
  return aPolicy({
    timeoutMs,
    retriesMax,
    ...(!backsOff && {
      retryDelay: chance.pick([
        "500",
        "1000 * (1 + retried)",
        "pow(2, retried) * 700",
        "0",
        "45000",
      ]),
    }),
    ...(chance.chance(0.25) && { callback: callbackPlan("callback") }),
    ...(chance.chance(0.25) && { failureCallback: callbackPlan("failure") }),
    ...(key && limits && { flow: { key: key.key, limits } }),
  });
}

function drawGroups(chance: Dice, backendIsSlow: boolean): Workload["groups"] {
  if (!chance.chance(0.5)) return [];
  const size = chance.chance(0.1) ? (backendIsSlow ? 520 : 1_200) : chance.integer(1, 12);
  const endpoints = Array.from({ length: size }, (_, i) => ({
    url: urlOf(
      size > 100 ? "good" : chance.pick(["good", "good", "flaky"]),
      i % 7,
      `endpoint-${i}`,
    ),
    ...(i % 3 === 0 && { name: `endpoint-${i}` }),
  }));
  return [{ tenant: aTenant, name: "crowd", endpoints }];
}
