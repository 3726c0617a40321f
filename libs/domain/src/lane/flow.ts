/** Flow keys as messages bring them: in which lane a message stands, and whose limits it sets. */
import { shardOf } from "../shared/shards.ts";
import { type Message } from "../message/message.ts";
import { flowLaneId, isDerived, type FlowId, type TenantId } from "../shared/ids.ts";
import { type FlowLimits, flowPeriodMsDefault } from "./flow-control.ts";

/** What a lane's row is made of. */
export type Flow = {
  readonly lane: FlowId;
  readonly tenant: TenantId;
  readonly key: string;
  readonly limits: FlowLimits;
  readonly shard: number;
  /** Of what brought it: the row's is never lower. */
  readonly format: number;
};

type Brings = Pick<Message, "id" | "format" | "tenant" | "policy" | "flow">;

/** The lane that a message stands in. */
export const flowOf = (message: Brings): Flow | undefined =>
  message.flow !== undefined && message.policy.flow
    ? flow(message, message.policy.flow)
    : undefined;

/**
 * The lanes whose limits are set by inserting a message, in this order. Only what the caller publishes sets any, and it
 * does so for all that will come of it: a callback, or a child that is made late, would put old limits back.
 */
export function flowsSetBy(message: Brings): readonly Flow[] {
  if (isDerived(message.id)) return [];
  const { callback, failureCallback, flow: own } = message.policy;
  return [callback?.flow, failureCallback?.flow, own].flatMap((each) =>
    each ? flow(message, each) : [],
  );
}

/** Of a key that is named by hand: one that has no row begins without limits. */
export const flowByHand = (tenant: TenantId, key: string): Flow =>
  flow({ tenant }, { key, limits: { periodMs: flowPeriodMsDefault } });

function flow(
  { format = 1, tenant }: Pick<Brings, "format" | "tenant">,
  { key, limits }: { readonly key: string; readonly limits: FlowLimits },
): Flow {
  const lane = flowLaneId(tenant, key);
  return { lane, tenant, key, limits, shard: shardOf(lane), format };
}
