/** The part of a body that a list shows. */
import { type Message } from "@posthaste/domain";
import { bytes } from "../bytes.ts";

/**
 * Returns a copy, so that the rest can be freed. The copy is one byte longer than shown, so that a later cut sees
 * whether it falls between two characters. A body that is shown as its hash is returned whole.
 */
export function shown(
  body: Uint8Array,
  bodyBytesMax: number,
  { policy }: Pick<Message, "policy">,
): Uint8Array {
  const whole = bytes(body);
  if (policy.redaction?.body || whole.length <= bodyBytesMax + 1) return whole;
  return whole.slice(0, bodyBytesMax + 1);
}
