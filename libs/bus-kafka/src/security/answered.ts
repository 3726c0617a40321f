/** One request to an issuer, bounded in time and size. */
import { type Clock } from "@posthaste/ports";

const answerMsMax = 5_000;
const answerBytesMax = 256 * 1024;

export type Answered = { readonly status: number; readonly text: string };

export async function answered(
  url: string,
  request: Pick<RequestInit, "method" | "headers" | "body">,
  clock: Clock,
): Promise<Answered> {
  const { host } = new URL(url);
  const over = new AbortController();
  const late = new Error(`${host} did not answer within ${answerMsMax} ms`);
  const callOff = clock.after(answerMsMax, () => over.abort(late));
  try {
    // A redirection would send the secret to another host.
    const answer = await fetch(url, { ...request, redirect: "error", signal: over.signal });
    let text = "";
    for await (const part of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += part;
      if (text.length > answerBytesMax)
        throw new Error(`${host} answers with more than ${answerBytesMax} bytes`);
    }
    return { status: answer.status, text };
  } catch (error) {
    if (error === late || !Error.isError(error) || error.cause === undefined) throw error;
    // The message of fetch's own error says only that it failed.
    const reason = Error.isError(error.cause) ? error.cause.message : "no answer";
    throw new Error(`${host} cannot be asked: ${reason}`, { cause: error });
  } finally {
    callOff();
  }
}

export function membersOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
