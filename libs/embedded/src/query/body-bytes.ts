/** How much of the bodies of a message a list reads. */
import { type Configuration, type PageRequest } from "@posthaste/domain";

/** By the next byte a cut sees whether it falls between two characters. */
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
