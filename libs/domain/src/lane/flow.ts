/** Flow keys as messages bring them: the lane that a message joins, and the lanes whose limits it sets. */
import { type FlowId, flowLaneId, isDerived, shardOf, type TenantId } from "../shared/ids.ts";
import { type Message } from "../message/message.ts";
import { type FlowLimits, flowPeriodMsDefault } from "./flow-control.ts";

export type Flow = {
  readonly lane: FlowId;
  readonly tenant: TenantId;
  readonly key: string;
  readonly limits: FlowLimits;
  readonly shard: number;
  /** The format of the message that brought the key. The row's format is never lower. */
  readonly format: number;
};

type Brings = Pick<Message, "id" | "format" | "tenant" | "policy" | "flow">;

export const flowOf = (message: Brings): Flow | undefined =>
  message.flow !== undefined && message.policy.flow
    ? flow(message, message.policy.flow)
    : undefined;

/**
 * Returns the lanes whose limits are set by inserting a message, in order. Only a message that a caller publishes
 * sets limits, for its callbacks, too. Otherwise a callback, or a child that is made late, would restore old limits.
 */
export function flowsSetBy(message: Brings): readonly Flow[] {
  if (isDerived(message.id)) return [];
  const { callback, failureCallback, flow: own } = message.policy;
  return [callback?.flow, failureCallback?.flow, own].flatMap((each) =>
    each ? flow(message, each) : [],
  );
}

/** Returns the flow of a key that is named by hand: a key without a row begins without limits. */
export const flowByHand = (tenant: TenantId, key: string): Flow =>
  flow({ tenant }, { key, limits: { periodMs: flowPeriodMsDefault } });

function flow(
  { format = 1, tenant }: Pick<Brings, "format" | "tenant">,
  { key, limits }: { readonly key: string; readonly limits: FlowLimits },
): Flow {
  const lane = flowLaneId(tenant, key);
  return { lane, tenant, key, limits, shard: shardOf(lane), format };
}
