import { type Policy } from "./policy.ts";
import { bothRedactions } from "./redact.ts";

/** Returns a stored policy with the changes of a retry or restart. What is redacted stays so: whoever may retry sees it in no read. */
export function changedPolicy(stored: Policy, asked: Partial<Omit<Policy, "flow">>): Policy {
  const redaction = bothRedactions(stored.redaction, asked.redaction);
  return { ...stored, ...asked, ...(redaction && { redaction }) };
}
