/** Stores a destination's answer in two parts: JSON without the body, and the body's bytes. */
import { type Answer } from "@posthaste/domain";

export type Packed = { readonly json: string; readonly response: Uint8Array | null };

type Answered = { readonly response?: Answer };

/** Cuts the answer's body to `bytesMax` and marks it as truncated. */
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
