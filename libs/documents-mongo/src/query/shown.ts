/** What of a body is shown by a list that cuts bodies. */
import { type Message } from "@posthaste/domain";
import { bytes } from "../bytes.ts";

/**
 * A copy, so that what is read and not shown is let go of; one byte further, by which a cut sees whether it falls between
 * two characters. A body that is shown as its hash is whole.
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
