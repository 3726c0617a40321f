/** How much of a message's bodies a list reads. */
import { type Configuration, type PageRequest } from "@posthaste/domain";

/** The next byte shows whether a cut falls inside a character. */
const furtherBytes = 1;

/** A body that is shown as its hash is read whole, unless nothing is shown. */
export function bodyBytesShown(
  { bodyBytesMax }: PageRequest,
  { policy }: Pick<Configuration, "policy">,
): number {
  if (bodyBytesMax === 0) return 0;
  if (bodyBytesMax === undefined || policy.redaction?.body) return Number.MAX_SAFE_INTEGER;
  return bodyBytesMax + furtherBytes;
}
