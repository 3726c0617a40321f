import { type Fault } from "../shared/fault.ts";
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
