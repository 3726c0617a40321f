/** Retries a dead letter as a new message, whose id is derived from the letter: two retries at once make one message. */
import { lanesOf, notBeforeOf, shardOfMessage } from "../lane/gates.ts";
import { type Postponement } from "../publish/command.ts";
import { type DlqId, type MessageId, retriedLetterId, type TenantId } from "../shared/ids.ts";
import { type DeadLetter } from "./dead-letter.ts";
import { changedPolicy, changedFlow, type FlowChange } from "./changed-policy.ts";
import { type Headers } from "./headers.ts";
import { type Message } from "./message.ts";
import { type Method, type Policy } from "./policy.ts";
import { type Sha256Hex } from "./redact.ts";

/** The changes that a retry makes to the stored message; absent parts stay. */
export type Overrides = {
  readonly method?: Method;
  /** Each replaces all stored headers of its name. */
  readonly headers: Headers;
  readonly policy: Partial<Omit<Policy, "flow">>;
  /** Checked by `faultOfFlow`. */
  readonly flow?: FlowChange;
  readonly postponement?: Postponement;
  readonly body?: Uint8Array;
};

/** `position` belongs to the time at which the message failed. */
export const idOfRetriedLetter = (
  tenant: TenantId,
  letter: DlqId,
  position: number,
  sha256: Sha256Hex,
): MessageId => retriedLetterId(position, sha256(`${tenant}/${letter}`));

/**
 * Returns the new message. The origin is kept: a callback stays one and gets no callbacks, whatever is asked for, and
 * a message of a queue joins the end of the queue. What is redacted stays so. The trace of the failed message has
 * ended, and so has the turn that its callback reported on.
 */
export function retriedMessage(
  { id: letter, message }: Pick<DeadLetter, "id" | "message">,
  id: MessageId,
  overrides: Overrides,
  now: number,
): Message {
  const { bodyOf: _body, trace: _trace, turnOf: _turn, flow: _flow, ...kept } = message;
  const flow = changedFlow(message.policy.flow, overrides.flow);
  const changed = changedPolicy(message.policy, policyFor(message, overrides));
  const policy = { ...changed, ...(flow && { flow }) };
  const lanes = lanesOf(message.tenant, flow, message.origin.queueName);
  return {
    ...kept,
    ...lanes,
    id,
    shard: shardOfMessage({ id, ...lanes }),
    createdAt: now,
    notBefore: notBeforeOf(overrides, now),
    method: overrides.method ?? message.method,
    headers: overridden(message.headers, overrides.headers),
    body: overrides.body ?? message.body,
    origin: { ...message.origin, retryOf: { message: message.id, letter } },
    policy,
  };
}

function policyFor(
  { origin }: Pick<Message, "origin">,
  { policy }: Overrides,
): Overrides["policy"] {
  if (origin.callbackOf === undefined) return policy;
  const { callback: _callback, failureCallback: _failure, ...rest } = policy;
  return rest;
}

function overridden(stored: Headers, given: Headers): Headers {
  if (given.length === 0) return stored;
  const names = new Set(given.map(([name]) => name.toLowerCase()));
  return [...stored.filter(([name]) => !names.has(name.toLowerCase())), ...given];
}
