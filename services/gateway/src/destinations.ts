/** The destination policy at the door, for early and clear refusals; the dialer decides again (docs/design/delivery#destinations). */
import {
  checkDestination,
  type DestinationPolicy,
  type Fault,
  fault,
  isFault,
} from "@posthaste/domain";

/** URLs that were found fine; most publishes repeat one of few. */
const keptMax = 10_000;

export function destinationCheck(
  policy: DestinationPolicy,
): (url: string, field: string) => Fault | undefined {
  const fine = new Set<string>();
  return (url, field) => {
    if (fine.has(url)) return undefined;
    const checked = checkDestination(url, policy);
    if (isFault(checked))
      return field === "destination" ? checked : fault(checked.fault, `${field}: ${checked.text}`);
    if (fine.size >= keptMax) fine.clear();
    fine.add(url);
    return undefined;
  };
}
