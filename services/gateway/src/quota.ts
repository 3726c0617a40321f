/**
 * Spends the quota that new messages and starts of runs need: of the backlog, of the day's messages, and of the
 * tenant's queues. Called once nothing else can refuse the publishes; spends all or nothing. A stopping process
 * refuses.
 */
import { fault, isFault, type QuotaNeed } from "@posthaste/domain";
import { makeQueues, type QuotaRefusal } from "@posthaste/engine";
import { type Queues, type Tenant } from "@posthaste/ports";
import { type BacklogQuota } from "./backlog.ts";
import { type Rates } from "./rates.ts";

export type QuotaParts = {
  readonly backlog: Pick<BacklogQuota, "add">;
  readonly queues: Pick<Queues, "make">;
  readonly rates: Pick<Rates, "spendMessages">;
  readonly isClosed: () => boolean;
};

/** Returns undefined synchronously if the plan counts no messages and no queue is named, as for almost every message. */
export function spendQuota(
  parts: QuotaParts,
  tenant: Tenant,
  need: QuotaNeed,
): Promise<QuotaRefusal | undefined> | undefined {
  if (parts.isClosed()) return Promise.resolve({ refused: closed });
  // The guards have counted one message already.
  parts.backlog.add(tenant, need.messages - 1);
  const spending = parts.rates.spendMessages(tenant, () => need.messages);
  if (!spending && need.queues.length === 0) return undefined;
  return take(parts, tenant, need, spending);
}

async function take(
  { queues }: QuotaParts,
  tenant: Tenant,
  need: QuotaNeed,
  spending: ReturnType<Rates["spendMessages"]>,
): Promise<QuotaRefusal | undefined> {
  const spent = await spending;
  if (isFault(spent)) return { refused: spent };
  if (need.queues.length === 0) return undefined;
  const refusal = await makeQueues({ queues }, tenant.id, need.queues, tenant.plan);
  if (refusal) await spent?.();
  return refusal;
}

const closed = fault("overloaded", "stopping: no new message is taken");
