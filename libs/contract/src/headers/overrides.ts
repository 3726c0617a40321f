/** The headers of a retried dead letter: each replaces the stored value, and the rest stays. */
import { type Fault, type Overrides, isFault } from "@posthaste/domain";
import { callbackPlan, headersOf, postponementOf } from "./complete.ts";
import { type Bounds, malformed, type PublishDraft } from "./setting.ts";
import { refusedAtRetry } from "./table.ts";

/**
 * Returns the changes that the headers make. Their rows say which are refused: the message's id is derived from the
 * letter, which deduplicates the retry, and a retry has no headers to pass on and joins the end of the queue that its
 * message was in.
 */
export function completeOverrides(draft: PublishDraft, bounds: Bounds): Overrides | Fault {
  const { message } = draft;
  const refused = refusedAtRetry(draft);
  if (refused !== undefined) return malformed({ name: refused }, "cannot be given for a retry");
  const headers = headersOf(message, "");
  if (isFault(headers)) return headers;
  const callback = callbackPlan(draft.callbackUrl, draft.callback, "Callback-", bounds);
  if (isFault(callback)) return callback;
  const { failureCallbackUrl, failureCallback: onFailure } = draft;
  const failureCallback = callbackPlan(failureCallbackUrl, onFailure, "Failure-Callback-", bounds);
  if (isFault(failureCallback)) return failureCallback;
  const postponement = postponementOf(draft, bounds);
  if (isFault(postponement)) return postponement;
  const { flowKey, flowLimits, method, retryDelay, settings } = message;
  return {
    ...(method && { method }),
    headers,
    policy: {
      ...settings,
      ...(retryDelay && { retryDelay: retryDelay.value }),
      ...(callback && { callback }),
      ...(failureCallback && { failureCallback }),
    },
    ...((flowKey ?? flowLimits) && {
      flow: {
        ...(flowKey && { key: flowKey.value }),
        ...(flowLimits && { limits: flowLimits.limits }),
      },
    }),
    ...(postponement && { postponement }),
  };
}
