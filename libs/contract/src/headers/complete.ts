/** How the headers of a publish go together, once each is known to be well-formed. */
import {
  type CallbackPlan,
  type Deduplication,
  type Destination,
  type Dialect,
  type Fault,
  type HeaderPair,
  type Headers,
  type Policy,
  type Postponement,
  type PublishCommand,
  isFault,
  timeoutMsOf,
} from "@posthaste/domain";
import { dialects } from "../wire/dialects.ts";
import { checkForwardedSize, forwardable } from "./forwarded.ts";
import { incomingHeaders, withIncoming } from "./incoming.ts";
import { type FlatHeaders, type PublishInput } from "./publish-input.ts";
import { flowOf } from "./request-settings.ts";
import { type Bounds, malformed, type PublishDraft, type RequestDraft } from "./setting.ts";
import { faultOfNotBefore } from "./values.ts";

/** Each header is well-formed, and the destination is known. */
export type PublishRequest = {
  readonly draft: PublishDraft;
  readonly dialect: Dialect;
  readonly destination: Destination;
};

export function completeCommand(
  { draft, dialect, destination }: PublishRequest,
  input: PublishInput,
): PublishCommand | Fault {
  const headers = messageHeaders(draft, input.rawHeaders);
  if (isFault(headers)) return headers;
  const policy = policyOf(draft, input);
  if (isFault(policy)) return policy;
  if (destination.kind === "url" && destination.api !== undefined && !policy.callback) {
    const name = `${dialects[dialect].prefix}Callback`;
    return malformed({ name }, `must be given: it gets what api/${destination.api} answers`);
  }
  const queue = queueOf(draft, input);
  if (isFault(queue)) return queue;
  const postponement = postponementOf(draft, input);
  if (isFault(postponement)) return postponement;
  const deduplication = deduplicationOf(draft);
  return {
    tenant: input.tenant,
    dialect,
    destination,
    method: draft.message.method ?? "POST",
    headers,
    body: input.body,
    policy,
    ...(postponement && { postponement }),
    ...(deduplication && { deduplication }),
    ...(queue !== undefined && { queue }),
    callerIp: input.callerIp,
    hop: draft.hop ?? 1,
  };
}

function messageHeaders(draft: PublishDraft, rawHeaders: FlatHeaders): Headers | Fault {
  const own = withContentType(draft.contentType, forwardable(draft.message.forwarded));
  if (!draft.forwardsAll) return bounded(own, "");
  const incoming = incomingHeaders(rawHeaders);
  return isFault(incoming) ? incoming : bounded(withIncoming(forwardable(incoming), own), "");
}

/** A forwarded Content-Type wins over the request's own. */
function withContentType(contentType: HeaderPair | undefined, forwarded: Headers): Headers {
  if (!contentType) return forwarded;
  if (forwarded.some(([name]) => name.toLowerCase() === "content-type")) return forwarded;
  return [contentType, ...forwarded];
}

export const bounded = (headers: Headers, family: string): Headers | Fault =>
  checkForwardedSize(headers, family) ?? headers;

function policyOf(draft: PublishDraft, input: Bounds): Policy | Fault {
  const { message, redaction } = draft;
  const flow = flowOf(message);
  if (isFault(flow)) return flow;
  const callback = callbackPlan(draft.callbackUrl, draft.callback, "Callback-", input);
  if (isFault(callback)) return callback;
  const failureCallback = callbackPlan(
    draft.failureCallbackUrl,
    draft.failureCallback,
    "Failure-Callback-",
    input,
  );
  if (isFault(failureCallback)) return failureCallback;
  const retriesMax = message.retriesMax ?? input.plan.retriesDefault;
  const refused = checkRetryDelays(draft, retriesMax, input);
  if (refused) return refused;
  return {
    timeoutMs: message.timeoutMs ?? timeoutMsOf(input.plan),
    retriesMax,
    labels: message.labels ?? [],
    ...(message.retryDelay && { retryDelay: message.retryDelay.value }),
    ...(callback && { callback }),
    ...(failureCallback && { failureCallback }),
    ...(redaction && { redaction }),
    ...(flow && { flow }),
  };
}

/** Settings without a callback URL are judged like any other and then come to nothing. */
export function callbackPlan(
  url: string | undefined,
  request: RequestDraft,
  family: string,
  { plan }: Bounds,
): CallbackPlan | Fault | undefined {
  const flow = flowOf(request);
  if (isFault(flow)) return flow;
  const headers = bounded(forwardable(request.forwarded), family);
  if (isFault(headers)) return headers;
  if (url === undefined) return undefined;
  const { timeoutMs, retriesMax, retryDelay, labels } = request;
  return {
    url,
    method: request.method ?? "POST",
    headers,
    delayMs: request.delayMs ?? 0,
    timeoutMs: timeoutMs ?? timeoutMsOf(plan),
    ...(retriesMax !== undefined && { retriesMax }),
    ...(retryDelay && { retryDelay: retryDelay.value }),
    ...(labels && { labels }),
    ...(flow && { flow }),
  };
}

/** Each expression must be fine for all retries that it may be asked for: a callback without its own inherits the message's. */
function checkRetryDelays(
  draft: PublishDraft,
  retriesMax: number,
  bounds: Bounds,
): Fault | undefined {
  const { message, callback, failureCallback } = draft;
  if (!message.retryDelay && !callback.retryDelay && !failureCallback.retryDelay) return undefined;
  let inheritedMax = retriesMax;
  for (const request of [callback, failureCallback]) {
    const ownMax = request.retriesMax ?? retriesMax;
    if (!request.retryDelay) inheritedMax = Math.max(inheritedMax, ownMax);
    else {
      const { name, value } = request.retryDelay;
      const refused = bounds.checkRetryDelay(value, ownMax, name);
      if (refused) return refused;
    }
  }
  const field = message.retryDelay;
  return field && bounds.checkRetryDelay(field.value, inheritedMax, field.name);
}

/** The target's and the header's, where both are given, must be the same. */
function queueOf({ queue: field }: PublishDraft, input: PublishInput): string | Fault | undefined {
  const { queue = field?.value } = input;
  return field && field.value !== queue
    ? malformed(field, `the target names the queue ${queue}, and this another`)
    : queue;
}

/** A time wins over a delay. */
export function postponementOf(
  { notBefore, message }: PublishDraft,
  bounds: Bounds,
): Postponement | Fault | undefined {
  if (notBefore)
    return faultOfNotBefore(notBefore.at, bounds) ?? { kind: "notBefore", at: notBefore.at };
  return message.delayMs ? { kind: "delay", delayMs: message.delayMs } : undefined;
}

/** An explicit id wins over the content's hash. */
function deduplicationOf({
  deduplicationId,
  contentBased,
}: PublishDraft): Deduplication | undefined {
  if (deduplicationId !== undefined) return { kind: "explicit", id: deduplicationId };
  return contentBased ? { kind: "content" } : undefined;
}
