/**
 * A fan-out is a publish to a URL group between its acknowledgement and the making of its children, which are the messages
 * (docs/design/record#fan-out). The fan-out's insert is the commit point, and stores the body once for all children.
 */
import { type Flow, flowOf, flowsSetBy } from "../lane/flow.ts";
import { lanesOf, shardOfMessage } from "../lane/gates.ts";
import { messageOf } from "../message/accept.ts";
import { type Message } from "../message/message.ts";
import { type PublishCommand } from "../publish/command.ts";
import { type Endpoint, type GroupChunkId } from "../publish/url-group.ts";
import { childId, type MessageId, type QueueId, shardOf, type TenantId } from "../shared/ids.ts";
import { ringAheadMs } from "../shared/limits.ts";

/** The version of the group that was published to. `skipped`: the indices of endpoints that get no child, since they are duplicates. */
export type FanOutTarget = {
  readonly group: string;
  readonly chunks: readonly GroupChunkId[];
  readonly endpointCount: number;
  readonly skipped: readonly number[];
};

export type Template = Omit<
  Message,
  "id" | "url" | "shard" | "queue" | "flow" | "body" | "bodyOf" | "format"
>;

type FanOutState =
  | { readonly kind: "expanding"; readonly upTo: number }
  | { readonly kind: "expanded"; readonly endedAt: number };

export type FanOut<S extends FanOutState = FanOutState> = FanOutTarget & {
  readonly id: MessageId;
  /** See `isKnownFormat`; absent for format 1. */
  readonly format?: number;
  readonly tenant: TenantId;
  readonly shard: number;
  readonly queue?: QueueId;
  readonly template: Template;
  readonly body: Uint8Array;
  readonly state: S;
  /** The alarm, as for a record; undefined once the fan-out is expanded. */
  readonly wakeAt: number | undefined;
};

export type Expanding = FanOut<Extract<FanOutState, { kind: "expanding" }>>;

export const isExpanding = (fanOut: FanOut): fanOut is Expanding =>
  fanOut.state.kind === "expanding";

/** Returns a fan-out as it is first written. The alarm rings at once, since the scheduler gets no hint of a fan-out. */
export function fanOutOf(
  command: PublishCommand,
  target: FanOutTarget,
  id: MessageId,
  now: number,
): Expanding {
  const message = messageOf(command, "", id, now);
  const { id: _, url, shard, queue, flow, body, format, ...template } = message;
  return {
    ...target,
    id,
    ...(format !== undefined && { format }),
    tenant: command.tenant,
    shard: shardOf(id),
    ...(queue !== undefined && { queue }),
    template,
    body,
    state: { kind: "expanding", upTo: 0 },
    wakeAt: now,
  };
}

/** Returns the child for the endpoint at `index`, the same however often it is made. */
export function childOf(fanOut: FanOut, endpoint: Endpoint, index: number): Message {
  const { queue, template, tenant } = fanOut;
  const id = childId(fanOut.id, index);
  const lanes = {
    ...lanesOf(tenant, template.policy.flow),
    ...(queue !== undefined && { queue }),
  };
  return {
    ...template,
    ...(fanOut.format !== undefined && { format: fanOut.format }),
    ...lanes,
    id,
    url: endpoint.url,
    shard: shardOfMessage({ id, ...lanes }),
    body: fanOut.body,
    bodyOf: fanOut.id,
    origin: {
      ...template.origin,
      group: {
        name: fanOut.group,
        ...(endpoint.name !== undefined && { endpointName: endpoint.name }),
      },
    },
  };
}

/** Returns the lanes whose limits the fan-out sets, and the lane that its children join. */
export function flowsOf(fanOut: FanOut): {
  readonly sets: readonly Flow[];
  readonly joins: Flow | undefined;
} {
  const { id, format, tenant, template } = fanOut;
  const { policy } = template;
  const lanes = lanesOf(tenant, policy.flow);
  const brought = { id, tenant, policy, ...lanes, ...(format !== undefined && { format }) };
  return { sets: flowsSetBy(brought), joins: flowOf(brought) };
}

/** Returns the state and the alarm after the children up to `upTo` were made. */
export function advanceTo(
  upTo: number,
  done: boolean,
  now: number,
): Pick<FanOut, "state" | "wakeAt"> {
  if (done) return { state: { kind: "expanded", endedAt: now }, wakeAt: undefined };
  return { state: { kind: "expanding", upTo }, wakeAt: now + ringAheadMs };
}
