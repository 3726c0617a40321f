/** The values by which the headers of a request are parsed: the tenant's plan, the time, and the policies of this process. */
import { type BatchContext, type NamedDestination, type ReadUrl } from "@posthaste/contract";
import {
  checkDestination,
  type DestinationPolicy,
  fault,
  type Group,
  isFault,
  TextCache,
} from "@posthaste/domain";
import { type Clock, type Groups, type Log, type RetryDelays, type Tenant } from "@posthaste/ports";
import { type Rates } from "./quota.ts";

export type ContextOf = (tenant: Tenant, callerIp: string) => BatchContext;

export type ContextParts = {
  readonly clock: Clock;
  readonly log: Log;
  readonly retryDelays: RetryDelays;
  readonly rates: Pick<Rates, "spendExpression">;
  readonly readUrl: ReadUrl;
  readonly llmUrl: string | undefined;
};

/** The number of characters of a header name in the log. */
const nameMax = 128;

export function createContextOf(parts: ContextParts): ContextOf {
  const { clock, log, retryDelays, rates, readUrl, llmUrl } = parts;
  return ({ id, plan, dialect }, callerIp) => {
    let hasLeftOut = false;
    const spendExpression = (field: string) => rates.spendExpression(id, field);
    return {
      tenant: id,
      plan,
      defaultDialect: dialect,
      callerIp,
      now: clock.now(),
      checkRetryDelay: (expression, retriesMax, field) =>
        retryDelays.check(expression, retriesMax, field, () => spendExpression(field)),
      spendExpression,
      readUrl,
      // One line for each request, since a batch may have thousands.
      leaveOut: (name) => {
        if (!hasLeftOut) log.warn("header.left_out", { tenant: id, name: name.slice(0, nameMax) });
        hasLeftOut = true;
      },
      llmUrl,
    };
  };
}

/**
 * Returns the group that `destination` names, or undefined if it names none or the group does not exist. Read before the
 * request's headers are parsed, for the group's default headers.
 */
export const groupOf = async (
  groups: Groups,
  { id }: Tenant,
  destination: NamedDestination,
): Promise<Group | undefined> =>
  destination.kind === "group" ? groups.get(id, destination.name) : undefined;

/**
 * Returns a function that checks the URLs of callers against the destination policy, for early and clear refusals, and returns them as they
 * are dialled. The dialer checks again (docs/design/delivery#destinations).
 */
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

/** The URLs that passed the check. Most publishes repeat one of few; a long one is seldom repeated. */
const fineUrls = { entriesMax: 10_000, lengthMax: 512 };
