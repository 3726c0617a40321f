/**
 * Checks the URLs of callers against the destination policy, for early and clear refusals, and returns them as they are dialled.
 * The dialer checks again (docs/design/delivery#destinations).
 */
import { type ReadUrl } from "@posthaste/contract";
import {
  asWritten,
  checkDestination,
  type DestinationPolicy,
  fault,
  isFault,
  TextCache,
} from "@posthaste/domain";

/** The URLs that passed the check. Most publishes repeat one of few; a long one is seldom repeated. */
const fineUrls = { entriesMax: 10_000, lengthMax: 512, canonical: asWritten };

export function urlReader(policy: DestinationPolicy): ReadUrl {
  const fine = new TextCache<string>(fineUrls);
  return (given, field) => {
    const known = fine.get(given);
    if (known !== undefined) return known;
    const checked = checkDestination(given, policy);
    if (isFault(checked))
      return field === "destination" ? checked : fault(checked.fault, `${field}: ${checked.text}`);
    fine.set(given, checked.text);
    return checked.text;
  };
}
