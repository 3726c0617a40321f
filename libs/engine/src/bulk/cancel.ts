/**
 * Cancels messages. The conditional write decides; then a running attempt is aborted and its lane's slot given back.
 * A fan-out is no message.
 */
import { accept, type LaneKind, type MessageId, parentOf, type TenantId } from "@posthaste/domain";
import {
  type Canceled,
  type FanOuts,
  type Groups,
  type LocalDelivery,
  type MessageLog,
  type Queues,
  type Records,
  type TokenStore,
} from "@posthaste/ports";
import { releaseSlots } from "../lanes/slots.ts";
import { insertAccepted, wakeLane } from "../publish/announce.ts";
import { unexpandedChildren } from "../publish/fan-out.ts";
import { followUp, type FollowUpPorts } from "../follow-up/follow-up.ts";

export type CancelPorts = FollowUpPorts & {
  readonly tokens: TokenStore;
  readonly groups: Groups;
  readonly queues: Queues;
  readonly fanOuts: FanOuts;
  readonly messageLog: Pick<MessageLog, "append">;
  readonly local?: LocalDelivery;
};

/**
 * Cancels messages, and returns the ids that were live and are cancelled now, as soon as the store has written it. Consequences
 * are carried out in the background. When it rejects, some messages may be cancelled.
 */
export async function cancelMessages(
  ports: CancelPorts,
  tenant: TenantId,
  asked: readonly MessageId[],
): Promise<readonly MessageId[]> {
  const ids = [...new Set(asked)];
  const canceled: MessageId[] = [];
  for (let n = 0; n < ids.length; n += cancelPortionMax) {
    const portion = await cancelPortion(ports, tenant, ids.slice(n, n + cancelPortionMax));
    canceled.push(...portion.canceled);
  }
  return canceled;
}

/** The highest number of messages in one call of a store. */
export const cancelPortionMax = 500;

export type CanceledPortion = {
  readonly canceled: readonly MessageId[];
  /** Resolves when the consequences are reported, or left to the alarms. */
  readonly carriedOut: Promise<void>;
};

/** `ids` must be distinct. */
export async function cancelPortion(
  ports: CancelPorts,
  tenant: TenantId,
  ids: readonly MessageId[],
): Promise<CanceledPortion> {
  const first = await cancelAll(ports.records, tenant, ids);
  const children = await makeChildren(
    ports,
    tenant,
    ids.filter((id) => !first.has(id)),
  );
  const second = await cancelAll(ports.records, tenant, children);
  const canceled = new Map([...first, ...second]);
  const carriedOut = reportCanceled(ports, [...canceled.values()]);
  return { canceled: ids.filter((id) => canceled.has(id)), carriedOut };
}

/**
 * Carries out the consequences of a cancel: aborts running calls, gives slots and turns back, writes the log. Never rejects: the
 * messages are cancelled already. A slot that cannot be given back now ends with its lease, a fact that cannot be published
 * rings, and one that is owed to the log is written by the removal of its record.
 */
export async function reportCanceled(
  ports: CancelPorts,
  answers: readonly Canceled[],
): Promise<void> {
  const canceled = answers.filter((answer) => answer.kind === "canceled");
  const running = canceled.filter(({ was }) => was === "claimed");
  const aborted = new Set(
    running.flatMap(({ message: { id } }) => (ports.local?.abort(id) ? id : [])),
  );
  const outboxes = canceled
    .filter(({ left }) => left.length > 0)
    .map(({ message, left }) => ({ message, outbox: left }));
  const owed = canceled.flatMap(({ message, owed: fact }) => (fact ? { message, fact } : []));
  await Promise.all([
    ...Object.values(leave).map((lane) => lane(ports, canceled, aborted)),
    outboxes.length > 0 && followUp(ports, outboxes),
    owed.length > 0 && ports.messageLog.append(owed),
  ]).catch((error: unknown) =>
    ports.log.warn("follow-up.postponed", { messages: canceled.length, error }),
  );
}

type CanceledMessage = Extract<Canceled, { kind: "canceled" }>;

async function cancelAll(
  records: Records,
  tenant: TenantId,
  ids: readonly MessageId[],
): Promise<ReadonlyMap<MessageId, CanceledMessage>> {
  const answers = ids.length > 0 ? await records.cancel(tenant, ids) : [];
  return new Map(
    answers.flatMap((answer) =>
      answer.kind === "canceled" ? [[answer.message.id, answer] as const] : [],
    ),
  );
}

/**
 * Makes the named children of group publishes that are not made yet, without announcing them, so that a cancel finds them.
 * Returns all named children, since a fan-out may have made one after the first cancel missed it.
 */
async function makeChildren(
  ports: CancelPorts,
  tenant: TenantId,
  ids: readonly MessageId[],
): Promise<readonly MessageId[]> {
  const children = ids.filter((id) => parentOf(id));
  if (children.length === 0) return [];
  for await (const unmade of unexpandedChildren(ports, tenant, children)) {
    const now = ports.clock.now();
    await insertAccepted(
      ports,
      unmade.map(({ message }) => accept(message, now)),
    );
  }
  return children;
}

type Leave = (
  ports: CancelPorts,
  canceled: readonly CanceledMessage[],
  /** The messages whose calls ran in this process and are aborted. */
  aborted: ReadonlySet<MessageId>,
) => Promise<void>;

/**
 * Gives slots back, except those of calls that were not aborted here. Such a call may still run; its slot lasts until
 * its own process gives it back, or until its lease ends.
 */
const leaveFlowLanes: Leave = async ({ bus, clock, tokens }, canceled, aborted) => {
  const ended = canceled.filter(({ message, was }) => was !== "claimed" || aborted.has(message.id));
  const lanes = await releaseSlots(
    tokens,
    ended.map(({ message }) => message),
  );
  if (lanes.length === 0) return;
  const now = clock.now();
  await bus.publish(
    "scheduler.wake",
    lanes.map((lane) => wakeLane(lane, now)),
  );
};

/** Wakes the queues of messages that were not running. The turn of a call that was aborted here lasts no longer than until now. */
const leaveQueues: Leave = async ({ bus, clock, queues }, canceled, aborted) => {
  const messages = canceled.map(({ message }) => message);
  const [first] = messages;
  const concerned = new Set(messages.flatMap(({ queue, turnOf }) => queue ?? turnOf?.queue ?? []));
  if (concerned.size === 0 || !first) return;
  const ended = messages.filter(({ id, queue }) => queue !== undefined && aborted.has(id));
  if (ended.length > 0)
    await queues.callsEnded(
      first.tenant,
      ended.map(({ id }) => id),
    );
  const now = clock.now();
  await bus.publish(
    "scheduler.wake",
    [...concerned].map((queue) => wakeLane(queue, now)),
  );
};

/** Gives back what cancelled messages held in their lanes. */
const leave: { readonly [Kind in LaneKind]: Leave } = { flow: leaveFlowLanes, queue: leaveQueues };
