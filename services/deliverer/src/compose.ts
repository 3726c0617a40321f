/** The request of an attempt: the message's own headers, then ours, signed now (protocol/qstash.md §2.2, §3). */
import { deliveryHeaders, signatureClaims } from "@posthaste/contract";
import { type InState } from "@posthaste/domain";
import { type OutgoingRequest, type Random, type Tenant } from "@posthaste/ports";
import { bodyHash, Signer } from "./signature.ts";

/** Undefined when the tenant is not known here. */
export type Compose = (record: InState<"claimed">, now: number) => OutgoingRequest | undefined;

export type ComposeParts = {
  readonly tenantOf: (id: InState<"claimed">["message"]["tenant"]) => Tenant | undefined;
  readonly random: Random;
};

const jtiLength = 28;

export function createCompose({ tenantOf, random }: ComposeParts): Compose {
  const signer = new Signer();
  return (record, now) => {
    const { message, retried, epoch } = record;
    const tenant = tenantOf(message.tenant);
    if (!tenant) return undefined;
    const jti = `jwt_${random.text(jtiLength)}`;
    const claims = signatureClaims(message, { now, bodyHash: bodyHash(message.body), jti });
    const signature = signer.sign(claims, tenant.keys.current);
    return {
      url: message.url,
      method: message.method,
      headers: message.headers.concat(deliveryHeaders(message, { retried, epoch, signature })),
      body: message.body,
      timeoutMs: message.policy.timeoutMs,
      responseBytesMax: tenant.plan.responseBytesMax,
    };
  };
}
