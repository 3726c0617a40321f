/**
 * Parses a publish from headers to command: one pass over the headers, then one check of how they go together. Every
 * publish uses this, so it uses no schema library and spends nothing on other headers.
 */
import {
  type Destination,
  type Dialect,
  type Fault,
  type Headers,
  type Overrides,
  type PublishCommand,
  fault,
  isFault,
} from "@posthaste/domain";
import { atOnce, type InTurns } from "../bodies/pause.ts";
import { faultOfRun, withRun } from "../workflow/run-publish.ts";
import { dialectOf, prefixLength } from "../wire/dialects.ts";
import { bytesOfText, isFieldValue } from "../wire/text.ts";
import { completeCommand, type PublishRequest } from "./complete.ts";
import { representationNames, takeForwarded } from "./forwarded.ts";
import { completeOverrides } from "./overrides.ts";
import { type FlatHeaders, type OverridesInput, type PublishInput } from "./publish-input.ts";
import { repeatable } from "./run-settings.ts";
import { refuseScheduleHeaders } from "./schedule-settings.ts";
import { type Bounds, malformed, type PublishDraft } from "./setting.ts";
import { forwardPrefixes, handlers } from "./table.ts";
import { refuseUnknown } from "./unknown.ts";

/** Returns the command or a fault: `malformed` names the header as the caller wrote it, `beyond_plan` the quota. */
export function parsePublish(input: PublishInput): PublishCommand | Fault {
  const read = readCommand(input);
  const command = "ofRun" in read ? atOnce(read.ofRun) : read;
  return isFault(command) ? refusal(command, input) : command;
}

/** Returns the same in turns, since a part of a run may be long. */
export function* readPublish(input: PublishInput): InTurns<PublishCommand | Fault> {
  const read = readCommand(input);
  const command = "ofRun" in read ? yield* read.ofRun : read;
  return isFault(command) ? refusal(command, input) : command;
}

const refusal = (refused: Fault, { rawHeaders, queryConfig }: PublishInput): Fault =>
  faultOfRun(refused, [...rawHeaders, ...(queryConfig ?? [])]);

type OfRun = { readonly ofRun: InTurns<PublishCommand | Fault> };

function readCommand(input: PublishInput): PublishCommand | Fault | OfRun {
  const request = readRequest(input);
  if (isFault(request)) return request;
  const { draft } = request;
  const refused =
    (draft.schedule && refuseScheduleHeaders(draft.schedule)) ??
    (draft.run.id ? undefined : refuseHost(draft));
  if (refused) return refused;
  const command = completeCommand(request, input);
  if (isFault(command) || !draft.run.id) return command;
  const { queryConfig: _, ...given } = input;
  const ofRun = withRun(command, draft.run.id, draft, (rawHeaders, url, body) => {
    const step = readCommand({ ...given, rawHeaders, destination: { kind: "url", url }, body });
    return "ofRun" in step ? atOnce(step.ofRun) : step;
  });
  return { ofRun };
}

/** Refuses a forwarded Host, except in runs: clients of workflows forward all headers that they were called with. */
export function refuseHost({
  message,
  callback,
  failureCallback,
}: PublishDraft): Fault | undefined {
  const host = message.host ?? callback?.host ?? failureCallback?.host;
  return host && malformed(host, "must not be forwarded: the destination names the host");
}

/** Reads each header by itself, and the destination. */
export function readRequest(input: PublishInput): PublishRequest | Fault {
  const destination = destinationOf(input);
  if (isFault(destination)) return destination;
  const reading = read(input);
  if (isFault(reading)) return reading;
  const dialect = reading.dialect ?? input.defaultDialect;
  const defaults = destination.kind === "group" ? input.defaultsOf?.(destination.name) : undefined;
  const wrong = defaults && readDefaults(defaults, reading, dialect, input);
  return wrong ?? { draft: reading.draft, dialect, destination };
}

function destinationOf({ destination, llmUrl, readUrl }: PublishInput): Destination | Fault {
  if (destination.kind === "group") return destination;
  const isApi = destination.kind === "api";
  const given = isApi ? llmUrl : destination.url;
  if (given === undefined) return noProvider;
  const url = readUrl(given, "destination");
  if (isFault(url)) return url;
  return { kind: "url", url, ...(isApi && { api: destination.api }) };
}

const noProvider = fault(
  "malformed",
  "invalid destination: api/llm has no provider here, its operator sets one",
);

/** Reads the defaults of a group in the dialect of the request, whichever they were given in. */
function readDefaults(
  defaults: Headers,
  reading: Reading,
  dialect: Dialect,
  bounds: Bounds,
): Fault | undefined {
  const forwarded = forwardPrefixes.map(({ of }) => namesOf(of(reading.draft).forwarded));
  for (const [name, value] of defaults) {
    const lower = name.toLowerCase();
    const suffix = lower.slice(prefixLength);
    const family = forwardPrefixes.findIndex(({ prefix }) => suffix.startsWith(prefix));
    const sent = suffix.slice(forwardPrefixes[family]?.prefix.length);
    if (reading.seen.has(suffix) || forwarded[family]?.has(sent)) continue;
    const refused = readOurs(reading, name, lower, bytesOfText(value), dialect, bounds, passed);
    if (refused) return refused;
  }
  return undefined;
}

/**
 * Returns the default headers of a group with their URLs as `readUrl` writes them. Refuses headers for which a
 * publish with these alone would be refused.
 */
export function parseDefaults(
  context: Omit<PublishInput, "rawHeaders" | "destination" | "body">,
  name: string,
  headers: Headers,
): Headers | Fault {
  const command = parsePublish({
    ...context,
    rawHeaders: headers.flatMap(([header, value]) => [header, bytesOfText(value)]),
    destination: { kind: "group", name },
    body: new Uint8Array(),
  });
  if (isFault(command)) return command;
  const { callback, failureCallback } = command.policy;
  const urls = new Map([
    ["callback", callback?.url],
    ["failure-callback", failureCallback?.url],
  ]);
  return headers.map(([header, value]) => [
    header,
    urls.get(header.toLowerCase().slice(prefixLength)) ?? value,
  ]);
}

/** Ignores unknown names: default headers were checked when the group was configured, by a release that may have known more. */
const passed = (): undefined => undefined;

const namesOf = (headers: Headers): ReadonlySet<string> =>
  new Set(headers.map(([name]) => name.toLowerCase()));

/** Returns the changes that the headers of a retry make to a stored message. The message keeps its dialect. */
export function parseOverrides(input: OverridesInput): Overrides | Fault {
  const reading = read(input);
  if (isFault(reading)) return reading;
  const { draft } = reading;
  return (
    draft.message.unfit?.[0]?.refusal ??
    (draft.schedule && refuseScheduleHeaders(draft.schedule)) ??
    refuseHost(draft) ??
    completeOverrides(draft, input)
  );
}

function read(input: OverridesInput): Reading | Fault {
  const reading: Reading = {
    draft: { message: { settings: {}, forwarded: [] }, representation: [], run: {} },
    seen: new Set(),
    dialect: undefined,
    witness: "",
  };
  const refused =
    readFlat(input.rawHeaders, reading, input) ?? readFlat(input.queryConfig ?? [], reading, input);
  return refused ?? reading;
}

type Reading = {
  readonly draft: PublishDraft;
  readonly seen: Set<string>;
  dialect: Dialect | undefined;
  /** The header that decided the dialect. */
  witness: string;
};

function readFlat(flat: FlatHeaders, reading: Reading, bounds: Bounds): Fault | undefined {
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const name = flat[i] ?? "";
    const lower = name.toLowerCase();
    const dialect = dialectOf(lower);
    const value = flat[i + 1] ?? "";
    if (dialect) {
      const refused =
        witnessDialect(reading, dialect, name) ??
        readOurs(reading, name, lower, value.trim(), dialect, bounds, refuseUnknown);
      if (refused) return refused;
      continue;
    }
    const sent = representationNames.get(lower);
    const refused = sent && readRepresentation(reading.draft, name, sent, value.trim());
    if (refused) return refused;
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
  ifUnknown: typeof refuseUnknown,
): Fault | undefined {
  const suffix = lower.slice(prefixLength);
  const handle = handlers.get(suffix);
  if (handle) {
    if (reading.seen.has(suffix) && !repeatable.has(suffix)) return givenTwice(name);
    reading.seen.add(suffix);
    return handle({ name, value, dialect }, reading.draft, bounds);
  }
  for (const { prefix, of } of forwardPrefixes) {
    if (!suffix.startsWith(prefix)) continue;
    const sent = name.slice(prefixLength + prefix.length);
    const request = of(reading.draft);
    if (sent.toLowerCase() === "host") return void (request.host = { name, value, dialect });
    takeForwarded(name, sent, value, request);
    return undefined;
  }
  return ifUnknown(name, suffix, dialect);
}

/** Content-Encoding and Content-Language may come in several lines. */
function readRepresentation(
  { representation }: PublishDraft,
  name: string,
  sent: string,
  value: string,
): Fault | undefined {
  if (sent === "Content-Type" && representation.some(([given]) => given === sent))
    return givenTwice(name);
  if (!isFieldValue(value)) return malformed({ name }, "must hold no control characters");
  representation.push([sent, value]);
  return undefined;
}

const givenTwice = (name: string): Fault => malformed({ name }, "must be given once");
