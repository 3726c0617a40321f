/** The headers of a retried dead letter: what they name replaces what is stored, and the rest stays. */
import {
  type CallbackPlan,
  type Fault,
  type Overrides,
  type Redaction,
  isFault,
} from "@posthaste/domain";
import { callbackPlan, headersOf, postponementOf } from "./complete.ts";
import { type Bounds, malformed, type PublishDraft, type RequestDraft } from "./setting.ts";

export function completeOverrides(draft: PublishDraft, bounds: Bounds): Overrides | Fault {
  const { message, redaction } = draft;
  const refused = meaningless(draft);
  if (refused) return refused;
  const headers = headersOf(message, "");
  if (isFault(headers)) return headers;
  const callback = callbackPlan(draft.callbackUrl, draft.callback, "Callback-", bounds);
  if (isFault(callback)) return callback;
  const { failureCallbackUrl, failureCallback: onFailure } = draft;
  const failureCallback = callbackPlan(failureCallbackUrl, onFailure, "Failure-Callback-", bounds);
  if (isFault(failureCallback)) return failureCallback;
  const postponement = postponementOf(draft, bounds);
  if (isFault(postponement)) return postponement;
  const { method, flowKey, flowLimits } = message;
  const given = { ...message, callback, failureCallback, redaction };
  return {
    ...(method && { method }),
    headers,
    policy: Object.values(changes).reduce<Changes>(
      (policy, change) => ({ ...policy, ...change(given) }),
      {},
    ),
    ...((flowKey ?? flowLimits) && {
      flow: {
        ...(flowKey && { key: flowKey.value }),
        ...(flowLimits && { limits: flowLimits.limits }),
      },
    }),
    ...(postponement && { postponement }),
  };
}

type Changes = Overrides["policy"];
type Given = RequestDraft & {
  readonly callback: CallbackPlan | undefined;
  readonly failureCallback: CallbackPlan | undefined;
  readonly redaction: Redaction | undefined;
};

/** The change that a retry makes to each setting of a policy. A setting without an entry does not compile. */
const changes: {
  readonly [Key in keyof Changes]-?: (given: Given) => Pick<Changes, Key> | undefined;
} = {
  timeoutMs: ({ timeoutMs }) => (timeoutMs === undefined ? undefined : { timeoutMs }),
  retriesMax: ({ retriesMax }) => (retriesMax === undefined ? undefined : { retriesMax }),
  retryDelay: ({ retryDelay }) => retryDelay && { retryDelay: retryDelay.value },
  labels: ({ labels }) => labels && { labels },
  callback: ({ callback }) => callback && { callback },
  failureCallback: ({ failureCallback }) => failureCallback && { failureCallback },
  redaction: ({ redaction }) => redaction && { redaction },
};

/**
 * Refuses headers without meaning for a retry. The message's id is derived from the letter, which deduplicates the retry. A
 * retry has no headers to hand on, and goes to the end of the queue that its message was in.
 */
function meaningless(draft: PublishDraft): Fault | undefined {
  const { deduplicationId, contentBased, forwardsAll, queue } = draft;
  const given =
    (deduplicationId !== undefined && "Deduplication-Id") ||
    (contentBased === true && "Content-Based-Deduplication") ||
    (forwardsAll === true && "Header-Forward") ||
    (queue !== undefined && "Queue-Name");
  return given ? malformed({ name: given }, "cannot be given for a retry") : undefined;
}
