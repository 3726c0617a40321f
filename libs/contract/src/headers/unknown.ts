/**
 * Headers with a prefix whose name is in no table. Ignored, a misspelt setting would be without effect, so in the dialect of
 * our own clients it is refused (ADR 176). Clients of the other are older and newer than this release: there a name passes.
 */
import { type Dialect, type Fault, nearestName } from "@posthaste/domain";
import { dialects } from "../wire/dialects.ts";
import { isOfDeliveries } from "./forwarded.ts";
import { malformed } from "./setting.ts";
import { forwardPrefixes, handlers, suffixes } from "./table.ts";

/** Clients of workflows send more under these than this release knows, and so do those of Python under the callback's. */
const families = ["workflow-", "telemetry-", "feature-"];
const callbackFamilies = ["callback-", "failure-callback-"];
/** Of what a step of a run answers, and an endpoint may hand on. */
const ofAnswers: ReadonlySet<string> = new Set(["nonretryable-error", "error-step-name"]);

/** Fewer edits than a name of its own is away: for a name that may as well mean something else. */
const misspeltEditsMax = 2;
const misspeltLengthMin = 4;

/** `suffix`: in lower case. */
export function refuseUnknown(name: string, suffix: string, dialect: Dialect): Fault | undefined {
  if (dialect !== "service" || isOfDeliveries(suffix) || ofAnswers.has(suffix)) return undefined;
  if (families.some((family) => suffix.startsWith(family))) return undefined;
  const isOfCallback = callbackFamilies.some((family) => suffix.startsWith(family));
  const nearest = isOfCallback ? misspelt(suffix) : nearestSuffix(suffix);
  if (isOfCallback && nearest === undefined) return undefined;
  return malformed({ name: short(name) }, `there is no such header${guess(dialect, nearest)}`);
}

/** Names in JSON may be of any length. */
const short = (name: string): string => name.slice(0, shownCharsMax);
const shownCharsMax = 128;

const guess = (dialect: Dialect, suffix: string | undefined): string =>
  suffix === undefined ? "" : `, is it ${short(dialects[dialect].prefix + suffix)}?`;

/** Of what must be a configuration header in either dialect, and is none. `suffix`: in lower case. */
export const refuseDefault = (name: string, suffix: string, dialect: Dialect): Fault =>
  malformed(
    { name: `headers.${short(name)}` },
    `must be a configuration header${guess(dialect, nearestSuffix(suffix))}`,
  );

/** The setting that `suffix` is a slip of the pen away from. */
export function misspelt(suffix: string): string | undefined {
  const family = callbackFamilies.find((prefix) => suffix.startsWith(prefix)) ?? "";
  if (suffix.length - family.length < misspeltLengthMin) return undefined;
  return nearestSuffix(suffix, misspeltEditsMax);
}

/** As it is written; a header to send keeps its own name. */
function nearestSuffix(suffix: string, editsMax?: number): string | undefined {
  const nearest = nearestName(suffix, handlers.keys(), editsMax);
  if (nearest !== undefined) return suffixes.get(nearest);
  for (const { prefix, written } of forwardPrefixes) {
    const dashes = prefix.split("-").length - 1;
    const parts = suffix.split("-", dashes);
    if (parts.length < dashes) continue;
    const head = `${parts.join("-")}-`;
    if (suffix.length <= head.length || nearestName(head, [prefix], misspeltEditsMax) === undefined)
      continue;
    return written + suffix.slice(head.length);
  }
  return undefined;
}
