/** Checks how the headers of a publish go together, once each is known to be well-formed. */
import {
  type CallbackPlan,
  type Destination,
  type Dialect,
  type Fault,
  type Headers,
  type Policy,
  type Postponement,
  type PublishCommand,
  isFault,
  timeoutMsOf,
} from "@posthaste/domain";
import { dialects } from "../wire/dialects.ts";
import { checkForwardedSize, fitting, forwardable } from "./forwarded.ts";
import { incomingHeaders, withoutReplaced } from "./incoming.ts";
import { type PublishInput } from "./publish-input.ts";
import { newRequest } from "./request-settings.ts";
import {
  type Bounds,
  type LeaveOut,
  malformed,
  type PublishDraft,
  type RequestDraft,
} from "./setting.ts";
import { faultOfNotBefore } from "./values.ts";

/** A request whose headers are each well-formed, with its destination known. */
export type PublishRequest = {
  readonly draft: PublishDraft;
  readonly dialect: Dialect;
  readonly destination: Destination;
};

export function completeCommand(
  { draft, dialect, destination }: PublishRequest,
  input: PublishInput,
): PublishCommand | Fault {
  const headers = messageHeaders(draft, input);
  if (isFault(headers)) return headers;
  const policy = policyOf(draft, input);
  if (isFault(policy)) return policy;
  if (destination.kind === "url" && destination.api !== undefined && !policy.callback) {
    const name = `${dialects[dialect].prefix}Callback`;
    return malformed({ name }, `must be given: it receives the answers of api/${destination.api}`);
  }
  const queue = queueOf(draft, input);
  if (isFault(queue)) return queue;
  const postponement = postponementOf(draft, input);
  if (isFault(postponement)) return postponement;
  const { contentBased, deduplicationId } = draft;
  return {
    tenant: input.tenant,
    dialect,
    destination,
    method: draft.message.method ?? "POST",
    headers,
    body: input.body,
    policy,
    ...(postponement && { postponement }),
    // An explicit id takes precedence over the content's hash.
    ...(deduplicationId === undefined
      ? contentBased && { deduplication: { kind: "content" } }
      : { deduplication: { kind: "explicit", id: deduplicationId } }),
    ...(queue !== undefined && { queue }),
    callerIp: input.callerIp,
    hop: draft.hop ?? 1,
  };
}

function messageHeaders(
  { forwardsAll, message, representation, run }: PublishDraft,
  { leaveOut, rawHeaders }: PublishInput,
): Headers | Fault {
  // A step names the headers of a call; every other request of a run passes on the headers that its endpoint was called with.
  const isHandedOn = run.id !== undefined && run.callType?.value !== "toCallback";
  const own = headersOf(message, "", isHandedOn ? leaveOut : undefined, representation);
  if (!forwardsAll || isFault(own)) return own;
  const incoming = withoutReplaced(forwardable(incomingHeaders(rawHeaders, leaveOut)), own);
  return [...fitting(incoming, own, leaveOut), ...own];
}

/** A forwarded header replaces the request's own. */
function withRepresentation(representation: Headers, forwarded: Headers): Headers {
  if (representation.length === 0) return forwarded;
  if (forwarded.length === 0) return representation;
  const named = new Set(forwarded.map(([name]) => name.toLowerCase()));
  return [...representation.filter(([name]) => !named.has(name.toLowerCase())), ...forwarded];
}

/**
 * Returns the headers to send. With `leaveOut` the caller passes its headers on, and those that cannot be sent are
 * left out; otherwise the caller named each, and one that cannot be sent is refused. `representation`: the headers of
 * the body.
 */
export function headersOf(
  { forwarded, unfit = [] }: RequestDraft,
  family: string,
  leaveOut?: LeaveOut,
  representation: Headers = [],
): Headers | Fault {
  const sent = forwardable(forwarded);
  if (leaveOut) {
    for (const { name, isSent } of unfit) if (!isSent) leaveOut(name);
    return withRepresentation(representation, fitting(sent, [], leaveOut));
  }
  const headers = withRepresentation(representation, sent);
  return unfit[0]?.refusal ?? checkForwardedSize(headers, family) ?? headers;
}

function policyOf(draft: PublishDraft, input: Bounds): Policy | Fault {
  const given = settingsOf(draft.message);
  if (isFault(given)) return given;
  const leaveOut = draft.run.id && input.leaveOut;
  const ofMessage = callbackPlan(draft.callbackUrl, draft.callback, "Callback-", input, leaveOut);
  if (isFault(ofMessage)) return ofMessage;
  const callback = ofMessage && withAnswerFailure(ofMessage, draft, input);
  if (isFault(callback)) return callback;
  const failureCallback = callbackPlan(
    draft.failureCallbackUrl,
    draft.failureCallback,
    "Failure-Callback-",
    input,
    leaveOut,
  );
  if (isFault(failureCallback)) return failureCallback;
  const retriesMax = given.retriesMax ?? input.plan.retriesDefault;
  const refused = checkRetryDelays(draft, retriesMax, input);
  if (refused) return refused;
  return {
    timeoutMs: timeoutMsOf(input.plan),
    retriesMax,
    labels: [],
    ...given,
    ...(callback && { callback }),
    ...(failureCallback && { failureCallback }),
  };
}

/**
 * Returns the settings that are given for a request, with those that several headers make. A flow key needs limits, and
 * limits need a key.
 */
function settingsOf<Draft extends RequestDraft>(request: Draft): Draft["settings"] | Fault {
  const { flowKey, flowLimits, retryDelay, settings } = request;
  if (retryDelay) settings.retryDelay = retryDelay.value;
  if (flowKey && flowLimits) settings.flow = { key: flowKey.value, limits: flowLimits.limits };
  else if (flowKey ?? flowLimits) {
    const name = (flowKey ?? flowLimits)?.name ?? "";
    return malformed(
      { name },
      `requires ${name.replace(/(key|value)$/i, flowKey ? "Value" : "Key")}`,
    );
  }
  return settings;
}

/** Only the answer of a run's call can have a failure callback of its own. */
function withAnswerFailure(
  callback: CallbackPlan,
  { answerFailure, answerFailureUrl, run }: PublishDraft,
  input: Bounds,
): CallbackPlan | Fault {
  if (run.id === undefined) return callback;
  const family = "Callback-Failure-Callback-";
  const plan = callbackPlan(answerFailureUrl, answerFailure, family, input, input.leaveOut);
  if (isFault(plan)) return plan;
  return plan ? { ...callback, failureCallback: plan } : callback;
}

/** Settings without a callback URL are checked like any other, and then have no effect. */
export function callbackPlan(
  url: string | undefined,
  asked: RequestDraft | undefined,
  family: string,
  { plan }: Bounds,
  leaveOut?: LeaveOut,
): CallbackPlan | Fault | undefined {
  if (url === undefined && !asked) return undefined;
  const request = asked ?? newRequest();
  const given = settingsOf(request);
  if (isFault(given)) return given;
  const headers = headersOf(request, family, leaveOut);
  if (isFault(headers)) return headers;
  if (url === undefined) return undefined;
  return {
    url,
    method: request.method ?? "POST",
    headers,
    delayMs: request.delayMs ?? 0,
    timeoutMs: timeoutMsOf(plan),
    ...given,
  };
}

/** Each expression must be valid for all retries that it may be used for: a callback without its own inherits the message's. */
function checkRetryDelays(
  draft: PublishDraft,
  retriesMax: number,
  bounds: Bounds,
): Fault | undefined {
  const { message, callback, failureCallback, answerFailure } = draft;
  let inheritedMax = retriesMax;
  for (const request of [callback, failureCallback, answerFailure]) {
    if (!request) continue;
    const ownMax = request.settings.retriesMax ?? retriesMax;
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

/** Returns the queue. If target and header both name one, it must be the same. */
function queueOf({ queue: field }: PublishDraft, input: PublishInput): string | Fault | undefined {
  const { queue = field?.value } = input;
  return field && field.value !== queue
    ? malformed(field, `the target names the queue ${queue}, this header names another one`)
    : queue;
}

/** Returns the time or the delay. A time takes precedence. */
export function postponementOf(
  { notBefore, message }: PublishDraft,
  bounds: Bounds,
): Postponement | Fault | undefined {
  if (notBefore)
    return faultOfNotBefore(notBefore.at, bounds) ?? { kind: "notBefore", at: notBefore.at };
  return message.delayMs ? { kind: "delay", delayMs: message.delayMs } : undefined;
}
