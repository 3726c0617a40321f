/**
 * Makes the request of an attempt: the message's headers, then those of the service, with a new signature
 * (docs/design/delivery#signatures).
 */
import { deliveryHeaders, signatureClaims } from "@posthaste/contract";
import { type Headers, type InState, isCallOfRun, limits, type Message } from "@posthaste/domain";
import { type OutgoingRequest, type Random, type Tenant, type TraceParent } from "@posthaste/ports";
import { bodyHash, Signer } from "./signature.ts";

export type Compose = (
  record: InState<"claimed">,
  tenant: Tenant,
  now: number,
  traceParent?: TraceParent,
) => OutgoingRequest;

export type ComposeParts = {
  readonly random: Random;
  /** The key of the provider behind `api/llm`. No record holds the key, so no list, log or callback can show it. */
  readonly llmKey: string | undefined;
};

const jtiLength = 28;

export function createCompose({ random, llmKey }: ComposeParts): Compose {
  const signer = new Signer();
  return (record, tenant, now, traceParent) => {
    const { message, retried, epoch } = record;
    const jti = `jwt_${random.text(jtiLength)}`;
    const claims = signatureClaims(message, { now, bodyHash: bodyHash(message.body), jti });
    const signature = signer.sign(claims, tenant.keys.current);
    return {
      tenant: tenant.id,
      url: message.url,
      method: message.method,
      headers: message.headers.concat(
        deliveryHeaders(message, { retried, epoch, signature }),
        traceHeaders(message, traceParent),
        keyHeaders(message, llmKey),
      ),
      body: message.body,
      timeoutMs: message.policy.timeoutMs,
      responseBytesMax: isCallOfRun(message)
        ? limits.runAnswerBytesMax
        : tenant.plan.responseBytesMax,
    };
  };
}

/** A forwarded header of the publisher replaces the service's, here and in `keyHeaders`. */
function traceHeaders(message: Message, traceParent: TraceParent | undefined): Headers {
  if (traceParent === undefined || forwards(message, "traceparent")) return noHeaders;
  return [["traceparent", traceParent]];
}

function keyHeaders(message: Message, key: string | undefined): Headers {
  if (message.origin.api === undefined || key === undefined) return noHeaders;
  return forwards(message, "authorization") ? noHeaders : [["Authorization", `Bearer ${key}`]];
}

const forwards = ({ headers }: Message, header: string): boolean =>
  headers.some(([name]) => name.toLowerCase() === header);

const noHeaders: Headers = [];
