/**
 * Makes the request of an attempt: the message's headers, then those of the service, with a new signature
 * (docs/design/delivery#signatures): a JWT, HS256, whose key is the text `sig_…` itself. The MAC is HMAC by its
 * definition (RFC 2104) over one-shot hashes: `createHmac` makes an object with a finalizer for each message, which
 * costs more than the hashing.
 */
import { hash } from "node:crypto";
import { deliveryHeaders, signatureClaims } from "@posthaste/contract";
import {
  type Headers,
  type InState,
  isCallOfRun,
  limits,
  type Message,
  TextCache,
} from "@posthaste/domain";
import { type OutgoingRequest, type Random, type Tenant, type TraceParent } from "@posthaste/ports";

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

const header = Buffer.from('{"alg":"HS256","typ":"JWT"}').toString("base64url");
/** The keys whose pads are kept. A tenant has two keys of about thirty characters. */
const keptKeys = { entriesMax: 2_000, lengthMax: 256 };

/** The block and the digest of SHA-256, in bytes. */
const blockBytes = 64;
const digestBytes = 32;

type Pads = { readonly inner: Uint8Array; readonly outer: Uint8Array };

export class Signer {
  readonly #pads = new TextCache<Pads>(keptKeys);

  sign(claims: object, key: string): string {
    const signed = `${header}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}`;
    return `${signed}.${macOf(signed, this.#padsOf(key))}`;
  }

  #padsOf(key: string): Pads {
    const kept = this.#pads.get(key);
    if (kept) return kept;
    const pads = padsOf(Buffer.from(key));
    this.#pads.set(key, pads);
    return pads;
  }
}

function padsOf(key: Buffer): Pads {
  const block = Buffer.alloc(blockBytes);
  (key.length > blockBytes ? hash("sha256", key, "buffer") : key).copy(block);
  return { inner: block.map((byte) => byte ^ 0x36), outer: block.map((byte) => byte ^ 0x5c) };
}

/** Returns the MAC of an ASCII text. */
function macOf(text: string, { inner, outer }: Pads): string {
  const first = Buffer.allocUnsafe(blockBytes + text.length);
  first.set(inner);
  first.write(text, blockBytes, "latin1");
  const second = Buffer.allocUnsafe(blockBytes + digestBytes);
  second.set(outer);
  second.write(hash("sha256", first, "binary"), blockBytes, "latin1");
  return hash("sha256", second, "base64url");
}

export const bodyHash = (body: Uint8Array): string => hash("sha256", body, "base64url");
