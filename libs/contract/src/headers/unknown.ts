/**
 * Headers with a prefix whose name is in no table. A misspelt setting would have no effect, so in the `Service-`
 * dialect a name near one of the table is refused (ADR 176). Any other name is taken for a header of a client newer
 * than this release.
 */
import { type Dialect, type Fault, nearestName } from "@posthaste/domain";
import { dialects } from "../wire/dialects.ts";
import { isOfDeliveries } from "./forwarded.ts";
import { malformed } from "./setting.ts";
import { forwardPrefixes, handlers, suffixes } from "./table.ts";

/** Workflow clients send names under these that this release does not know; clients in Python use those of callbacks. */
const families = ["workflow-", "telemetry-", "feature-"];
const callbackFamilies = ["callback-", "failure-callback-"];
/** Names in the answer of a run's step, which an endpoint may pass on. */
const ofAnswers: ReadonlySet<string> = new Set(["nonretryable-error", "error-step-name"]);

/** A name that may well mean something else has to be nearer, and long enough not to be another word. */
const slipEditsMax = 2;
const slipLengthMin = 4;
const editsMax = 3;

/** `suffix`: in lower case. */
export function refuseUnknown(name: string, suffix: string, dialect: Dialect): Fault | undefined {
  if (dialect !== "service" || isOfDeliveries(suffix) || ofAnswers.has(suffix)) return undefined;
  if (families.some((family) => suffix.startsWith(family))) return undefined;
  const nearest = callbackFamilies.some((family) => suffix.startsWith(family))
    ? misspelt(suffix)
    : nearestSuffix(suffix, Math.min(editsMax, Math.ceil(suffix.length / 2)));
  if (nearest === undefined) return undefined;
  return malformed({ name: short(name) }, `there is no such header${guess(dialect, nearest)}`);
}

/** Cuts a name, since names in JSON may be of any length. */
const short = (name: string): string => name.slice(0, shownCharsMax);
const shownCharsMax = 128;

const guess = (dialect: Dialect, suffix: string | undefined): string =>
  suffix === undefined ? "" : `, is it ${short(dialects[dialect].prefix + suffix)}?`;

/** Refuses a name that must be a configuration header, in either dialect, and is not. `suffix`: in lower case. */
export const refuseDefault = (name: string, suffix: string, dialect: Dialect): Fault =>
  malformed(
    { name: `headers.${short(name)}` },
    `must be a configuration header${guess(dialect, nearestSuffix(suffix, editsMax))}`,
  );

/** Returns the setting whose likely misspelling `suffix` is. */
export function misspelt(suffix: string): string | undefined {
  const family = callbackFamilies.find((prefix) => suffix.startsWith(prefix)) ?? "";
  if (suffix.length - family.length < slipLengthMin) return undefined;
  return nearestSuffix(suffix, slipEditsMax);
}

/** Returns the nearest suffix as it is written; the name of a header to send stays as given. */
function nearestSuffix(suffix: string, most: number): string | undefined {
  const nearest = nearestName(suffix, handlers.keys(), most);
  if (nearest !== undefined) return suffixes.get(nearest);
  for (const { prefix, written } of forwardPrefixes) {
    const dashes = prefix.split("-").length - 1;
    const parts = suffix.split("-", dashes);
    if (parts.length < dashes) continue;
    const head = `${parts.join("-")}-`;
    if (suffix.length <= head.length || nearestName(head, [prefix], slipEditsMax) === undefined)
      continue;
    return written + suffix.slice(head.length);
  }
  return undefined;
}
