/** A dead letter that is sent again with another body: a new message with its settings, and then the letter is removed. */
import { type DeadLetter, type Publication } from "@posthaste/client";
import { CliError } from "./exit.ts";

const redacted = "REDACTED:";

/** The same id for the same letter: asked again after an answer was lost it is sent once. */
export function publicationOf(letter: DeadLetter, body: string): Publication {
  const { flowControlKey, header, labels, timeout } = letter;
  const { headers, contentType } = headersOf(header);
  return {
    to: letter.url,
    body,
    headers,
    callbackHeaders: headersOf(letter.callbackHeader ?? {}).headers,
    failureCallbackHeaders: headersOf(letter.failureCallbackHeader ?? {}).headers,
    contentType,
    method: letter.method,
    retries: letter.maxRetries,
    timeout: `${Math.ceil(timeout / 1_000)}s`,
    retryDelay: letter.retryDelayExpression,
    callback: letter.callback,
    failureCallback: letter.failureCallback,
    label: labels,
    queueName: letter.queueName,
    ...(flowControlKey !== undefined && { flowControlKey, flowControlValue: limitsOf(letter) }),
    deduplicationId: `edited-${letter.dlqId}`,
  };
}

/** Redacted parts are the destination's alone, and an editor shows text alone. */
export function editableBody({ body = "", bodyBase64, header }: DeadLetter): string {
  const values = Object.values(header).flat();
  if ([body, ...values].some((text) => text.startsWith(redacted)))
    throw new CliError("usage", "--edit: parts of it are redacted, and could not be sent again");
  if (bodyBase64 !== undefined) throw new CliError("usage", "--edit: its body is no text");
  return body;
}

function headersOf(given: Readonly<Record<string, readonly string[]>>) {
  const headers: Record<string, string> = {};
  let contentType: string | undefined;
  for (const [name, values] of Object.entries(given)) {
    const value = values.join(", ");
    if (name.toLowerCase() === "content-type") contentType = value;
    else headers[name] = value;
  }
  return { headers, contentType };
}

function limitsOf({ parallelism, period, rate }: DeadLetter): string {
  return [
    ...(parallelism === undefined ? [] : [`parallelism=${parallelism}`]),
    ...(rate === undefined ? [] : [`rate=${rate}`, `period=${period ?? 1}s`]),
  ].join(", ");
}
