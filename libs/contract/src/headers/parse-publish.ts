/**
 * A publish, from headers to command: one pass over the headers, then one look at how they go together.
 * On the path of every publish, hence no schema library and no work for headers that are not ours.
 */
import { type Dialect, type Fault, type PublishCommand, fault } from "@posthaste/domain";
import { dialectOf, prefixLength } from "../wire/dialects.ts";
import { isHeaderValue } from "../wire/text.ts";
import { completeCommand } from "./complete.ts";
import { takeForwarded } from "./forwarded.ts";
import { type FlatHeaders, type PublishInput } from "./publish-input.ts";
import { type Bounds, type PublishDraft, type RequestDraft, malformed } from "./setting.ts";
import { forwardPrefixes, handlers } from "./table.ts";

/** The command, or what is wrong: `malformed` names the header as the caller wrote it, `beyond_plan` the quota. */
export function parsePublish(input: PublishInput): PublishCommand | Fault {
  const { destination } = input;
  if (destination.kind === "url") {
    const refused = input.checkDestination(destination.url, "destination");
    if (refused) return refused;
  }
  const reading = newReading();
  const refused =
    readFlat(input.rawHeaders, reading, input) ?? readFlat(input.queryConfig ?? [], reading, input);
  if (refused) return refused;
  const dialect = reading.dialect ?? input.defaultDialect;
  return completeCommand(reading.draft, dialect, input);
}

type Reading = {
  readonly draft: PublishDraft;
  readonly seen: Set<string>;
  dialect: Dialect | undefined;
  /** The header that told the dialect. */
  witness: string;
};

const newRequest = (): RequestDraft => ({ forwarded: [] });
const newReading = (): Reading => ({
  draft: { message: newRequest(), callback: newRequest(), failureCallback: newRequest() },
  seen: new Set(),
  dialect: undefined,
  witness: "",
});

function readFlat(flat: FlatHeaders, reading: Reading, bounds: Bounds): Fault | undefined {
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const name = flat[i] ?? "";
    const lower = name.toLowerCase();
    const dialect = dialectOf(lower);
    const value = flat[i + 1] ?? "";
    if (dialect) {
      const refused =
        witnessDialect(reading, dialect, name) ??
        readOurs(reading, name, lower, value.trim(), dialect, bounds);
      if (refused) return refused;
    } else if (lower === "content-type") {
      const refused = readContentType(reading, name, value.trim());
      if (refused) return refused;
    }
  }
  return undefined;
}

function witnessDialect(reading: Reading, dialect: Dialect, name: string): Fault | undefined {
  if (reading.dialect === undefined) {
    reading.dialect = dialect;
    reading.witness = name;
    return undefined;
  }
  if (reading.dialect === dialect) return undefined;
  return fault(
    "malformed",
    `${reading.witness} and ${name}: one request must not mix both prefixes`,
  );
}

function readOurs(
  reading: Reading,
  name: string,
  lower: string,
  value: string,
  dialect: Dialect,
  bounds: Bounds,
): Fault | undefined {
  const suffix = lower.slice(prefixLength);
  const handle = handlers.get(suffix);
  if (handle) {
    if (reading.seen.has(suffix)) return givenTwice(name);
    reading.seen.add(suffix);
    return handle({ name, value, dialect }, reading.draft, bounds);
  }
  for (const { prefix, of } of forwardPrefixes) {
    if (!suffix.startsWith(prefix)) continue;
    const sent = name.slice(prefixLength + prefix.length);
    return takeForwarded(name, sent, value, of(reading.draft).forwarded);
  }
  return undefined;
}

function readContentType(reading: Reading, name: string, value: string): Fault | undefined {
  if (reading.draft.contentType) return givenTwice(name);
  if (!isHeaderValue(value)) return malformed({ name }, "must hold visible ASCII characters only");
  reading.draft.contentType = ["Content-Type", value];
  return undefined;
}

const givenTwice = (name: string): Fault => malformed({ name }, "must be given once");
