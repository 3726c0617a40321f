import { type TenantSettings } from "@posthaste/contract";
import { fault, type Fault, type Plan } from "@posthaste/domain";

/** Returns `plan` with the given limits. Each limit is within its bounds already; only their relation is checked here. */
export function changedPlan(plan: Plan, limits: TenantSettings["limits"]): Plan | Fault {
  const given = Object.fromEntries(
    Object.entries(limits).filter(([, limit]) => limit !== undefined),
  );
  const changed: Plan = { ...plan, ...given };
  if (changed.retriesDefault <= changed.retriesMax) return changed;
  return fault(
    "malformed",
    `plan.retriesDefault: must be at most plan.retriesMax, ${changed.retriesMax}`,
  );
}
