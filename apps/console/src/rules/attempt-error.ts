/**
 * Returns why a run's attempt failed, in one line. Workflow endpoints answer with the error as JSON, whose message says more
 * than the status.
 */
import { type AttemptError } from "@posthaste/client/api";

export function errorWordsOf({ error, body = "", status }: AttemptError): string {
  const told = messageIn(body) ?? body.trim();
  const own = error === String(status) ? "" : error;
  return [own, told].filter((each) => each !== "").join(": ") || error;
}

/** Also finds the message of a cut body. */
function messageIn(body: string): string | undefined {
  const [, text] = /"message"\s*:\s*"((?:[^"\\]|\\.)*)/.exec(body) ?? [];
  if (text === undefined) return undefined;
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return text;
  }
}
