/**
 * A delivery as its destination receives it: the headers beside those that the caller gave
 * (docs/design/wire#dialects), and the claims in its signature (docs/design/delivery#signatures).
 */
import {
  type Configuration,
  deliveryOf,
  type HeaderPair,
  type Headers,
  type InRun,
  type Message,
  protocolVersion,
} from "@posthaste/domain";
import { dialects } from "../wire/dialects.ts";

export type AttemptMarks = {
  /** Failures of the destination so far: 0 on the first attempt. */
  readonly retried: number;
  /**
   * The claim's fence. A strict receiver can refuse requests of an older claim (docs/design/record#claims-leases-epochs).
   */
  readonly epoch: number;
  /** The signed claims, see `signatureClaims`. */
  readonly signature: string;
};

/**
 * Returns the headers to send after `message.headers`. `message.headers` may have User-Agent, which is then kept, and
 * none of the other names.
 */
export function deliveryHeaders(message: Configuration, marks: AttemptMarks): Headers {
  const { origin, dialect } = message;
  const { prefix, userAgent } = dialects[dialect];
  const headers: HeaderPair[] = [];
  if (!message.headers.some(([name]) => name.toLowerCase() === "user-agent")) {
    headers.push(["User-Agent", userAgent]);
  }
  headers.push(
    [`${prefix}Signature`, marks.signature],
    [`${prefix}Message-Id`, message.id],
    [`${prefix}Retried`, String(marks.retried)],
    [`${prefix}Caller-Ip`, origin.callerIp],
    [`${prefix}Hop`, String(origin.hop)],
  );
  if (origin.group) headers.push([`${prefix}Topic-Name`, origin.group.name]);
  if (origin.scheduleId !== undefined) headers.push([`${prefix}Schedule-Id`, origin.scheduleId]);
  if (message.run) headers.push(...runHeaders(message, message.run));
  if (dialect === "service") headers.push([`${prefix}Attempt-Epoch`, String(marks.epoch)]);
  return headers;
}

/**
 * Returns the headers of a run's delivery. `Workflow-Sdk-Version` says that the request is not the first of a run; a
 * message that reports an answer or a failure has none. A third party gets no information about the run.
 */
function runHeaders({ dialect, policy }: Configuration, run: InRun): HeaderPair[] {
  const role = deliveryOf(run.part)?.role;
  if (role === "call") return [];
  const { prefix } = dialects[dialect];
  const headers: HeaderPair[] = [
    [`${prefix}Workflow-RunId`, run.id],
    [`${prefix}Workflow-CreatedAt`, String(run.createdAt)],
  ];
  if (run.probes) headers.push([`${prefix}Workflow-Unknown-Sdk`, "true"]);
  else if (role !== undefined && role !== "answer")
    headers.push([`${prefix}Workflow-Sdk-Version`, protocolVersion]);
  if (role === undefined)
    headers.push(...failureMarks.map((mark): HeaderPair => [`${prefix}Workflow-${mark}`, "true"]));
  if (policy.labels.length > 0) headers.push([`${prefix}Label`, policy.labels.join(",")]);
  return headers;
}

const failureMarks = ["Is-Failure", "Failure-Callback"] as const;

/** The claims of a JWT that each attempt is signed with (HS256); times are Unix seconds. */
export type SignatureClaims = {
  readonly iss: string;
  /** The destination as it is dialled and shown (ADR 130). */
  readonly sub: string;
  readonly exp: number;
  /** 0, so that a receiver whose clock is behind does not refuse; present, since some verifiers require it. */
  readonly nbf: number;
  readonly iat: number;
  readonly jti: string;
  /** SHA-256 of the body as sent. */
  readonly body: string;
};

const lifeSeconds = 300;

export type SignatureInputs = {
  /** Unix milliseconds. */
  readonly now: number;
  /** base64url of the SHA-256 of the raw body. */
  readonly bodyHash: string;
  readonly jti: string;
};

export function signatureClaims(
  message: Pick<Message, "dialect" | "url">,
  { now, bodyHash, jti }: SignatureInputs,
): SignatureClaims {
  const iat = Math.floor(now / 1_000);
  return {
    iss: dialects[message.dialect].issuer,
    sub: message.url,
    exp: iat + lifeSeconds,
    nbf: 0,
    iat,
    jti,
    body: bodyHash,
  };
}
