/** The changes that a retry or a restart makes to a stored policy. */
import { type FlowLimits } from "../lane/flow-control.ts";
import { fault, type Fault } from "../shared/fault.ts";
import { refusalOfScope, type TokenScope } from "../shared/token-scope.ts";
import { type Policy } from "./policy.ts";
import { bothRedactions } from "./redact.ts";

/** Returns a stored policy with the changes of a retry or restart. What is redacted stays so: whoever may retry sees it in no read. */
export function changedPolicy(stored: Policy, asked: Partial<Omit<Policy, "flow">>): Policy {
  const redaction = bothRedactions(stored.redaction, asked.redaction);
  return { ...stored, ...asked, ...(redaction && { redaction }) };
}

/**
 * Refuses a callback to another URL to a token that may not read secrets: the callback contains what the message redacts.
 */
export const refusalOfCallback = (
  { redaction }: Pick<Policy, "redaction">,
  { callback, failureCallback }: Partial<Policy>,
  scope: TokenScope,
): Fault | undefined =>
  redaction && (callback || failureCallback)
    ? refusalOfScope(scope, { kind: "secret" })
    : undefined;

/** The changes to flow control: to the key, the limits, or both. At least one field is set. */
export type FlowChange = { readonly key?: string; readonly limits?: FlowLimits };

/** Returns the key and the limits of `change`, each taken from `stored` if `change` has none. Returns undefined unless there are both. */
export function changedFlow(stored: Policy["flow"], change: FlowChange = {}): Policy["flow"] {
  const { key = stored?.key, limits = stored?.limits } = change;
  return key !== undefined && limits ? { key, limits } : undefined;
}

/** Returns a fault when there is only one of key and limits, in the change or in the policy that it changes. */
export function faultOfFlow(stored: Policy["flow"], change?: FlowChange): Fault | undefined {
  if (!change || changedFlow(stored, change)) return undefined;
  const [given, missing] =
    change.key === undefined ? (["Value", "Key"] as const) : (["Key", "Value"] as const);
  return fault(
    "malformed",
    `Flow-Control-${given}: requires Flow-Control-${missing}, as what failed has none`,
  );
}
