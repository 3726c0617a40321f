/** The destination policy at the door, for early and clear refusals; the dialer decides again (docs/design/delivery#destinations). */
import {
  asWritten,
  checkDestination,
  type DestinationPolicy,
  type Fault,
  fault,
  isFault,
  TextCache,
} from "@posthaste/domain";

/** URLs that were found fine; most publishes repeat one of few, and a long one is seldom repeated. */
const fineUrls = { entriesMax: 10_000, lengthMax: 512, canonical: asWritten };

export function destinationCheck(
  policy: DestinationPolicy,
): (url: string, field: string) => Fault | undefined {
  const fine = new TextCache<true>(fineUrls);
  return (url, field) => {
    if (fine.has(url)) return undefined;
    const checked = checkDestination(url, policy);
    if (isFault(checked))
      return field === "destination" ? checked : fault(checked.fault, `${field}: ${checked.text}`);
    fine.set(url, true);
    return undefined;
  };
}
