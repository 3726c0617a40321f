/** The request of an attempt: the message's own headers, then ours, signed now (docs/design/delivery#signatures). */
import { deliveryHeaders, signatureClaims } from "@posthaste/contract";
import { type Headers, type InState, type Message } from "@posthaste/domain";
import { type OutgoingRequest, type Random, type Tenant, type TraceParent } from "@posthaste/ports";
import { bodyHash, Signer } from "./signature.ts";

/** Undefined when the tenant is not known here. */
export type Compose = (
  record: InState<"claimed">,
  now: number,
  traceParent?: TraceParent,
) => OutgoingRequest | undefined;

export type ComposeParts = {
  readonly tenantOf: (id: InState<"claimed">["message"]["tenant"]) => Tenant | undefined;
  readonly random: Random;
};

const jtiLength = 28;

export function createCompose({ tenantOf, random }: ComposeParts): Compose {
  const signer = new Signer();
  return (record, now, traceParent) => {
    const { message, retried, epoch } = record;
    const tenant = tenantOf(message.tenant);
    if (!tenant) return undefined;
    const jti = `jwt_${random.text(jtiLength)}`;
    const claims = signatureClaims(message, { now, bodyHash: bodyHash(message.body), jti });
    const signature = signer.sign(claims, tenant.keys.current);
    return {
      url: message.url,
      method: message.method,
      headers: message.headers.concat(
        deliveryHeaders(message, { retried, epoch, signature }),
        traceHeaders(message, traceParent),
      ),
      body: message.body,
      timeoutMs: message.policy.timeoutMs,
      responseBytesMax: tenant.plan.responseBytesMax,
    };
  };
}

/** What the publisher forwards wins. */
function traceHeaders({ headers }: Message, traceParent: TraceParent | undefined): Headers {
  if (traceParent === undefined) return noHeaders;
  const isForwarded = headers.some(([name]) => name.toLowerCase() === "traceparent");
  return isForwarded ? noHeaders : [["traceparent", traceParent]];
}

const noHeaders: Headers = [];
