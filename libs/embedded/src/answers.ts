/** What has a destination's answer in it is stored in two parts: JSON without the bytes, and the bytes. */
import { type Answer } from "@posthaste/domain";

export type Packed = { readonly json: string; readonly response: Uint8Array | null };

type Answered = { readonly response?: Answer };

/** The answer's body is cut to `bytesMax`. */
export function pack(item: Answered, bytesMax = Infinity): Packed {
  const { response } = item;
  if (!response) return { json: JSON.stringify(item), response: null };
  const { body, ...head } = response;
  const cut = body.length > bytesMax;
  const json = JSON.stringify({ ...item, response: { ...head, truncated: head.truncated || cut } });
  return { json, response: cut ? body.subarray(0, bytesMax) : body };
}

export function unpack<T extends Answered>(item: T, body: Uint8Array | undefined): T {
  return item.response
    ? { ...item, response: { ...item.response, body: body ?? new Uint8Array(0) } }
    : item;
}
