/** URL groups: read with their endpoints in the order in which they were added (docs/design/wire#url-groups). */
import {
  type Endpoint as GroupEndpoint,
  type Fault,
  type Group,
  type HeaderPair,
  type Headers,
  type Plan,
  type Redaction,
  type Sha256Hex,
  fault,
  isFault,
  planBounds,
  redacted,
  redactsHeader,
  tooManyEndpoints,
} from "@posthaste/domain";
import * as z from "zod";
import { jsonBytesMax, parseJson, readJsonList, strictObject } from "../bodies/json.ts";
import { pause, type Pause } from "../bodies/pause.ts";
import { malformed, type ReadUrl } from "../headers/setting.ts";
import { isConfiguration } from "../headers/table.ts";
import { refuseDefault } from "../headers/unknown.ts";
import { parseRedaction } from "../headers/values.ts";
import { isRedacted } from "../representations/hidden.ts";
import { type JsonOf, millisecondsShape } from "../representations/schemas.ts";
import { dialectOf, prefixLength } from "../wire/dialects.ts";
import { type BodyRow, endpoint } from "./endpoint.ts";

const endpointSchema = z.object({
  url: z.string(),
  name: z.string().optional(),
});

const defaultHeadersSchema = z.record(z.string(), z.union([z.string(), z.array(z.string())]));

const groupSchema = z
  .object({
    name: z.string(),
    createdAt: millisecondsShape,
    updatedAt: millisecondsShape,
    headers: defaultHeadersSchema
      .optional()
      .describe("Headers of every publish to the group that does not give its own"),
    endpoints: z.array(endpointSchema).describe("In the order in which they were added"),
  })
  .meta({ id: "UrlGroup" });

const endpointNameLengthMax = 128;

const url = z.string("must be a string").min(1, "must not be empty");
const name = z
  .string("must be a string")
  .min(1, "must not be empty")
  .max(endpointNameLengthMax, `must be at most ${endpointNameLengthMax} characters`);

const upserted = strictObject({ url, name: name.nullish() });
/** Accepts an empty text, which the client in Go sends for none. */
const ifGiven = (text: z.ZodString) =>
  z.preprocess((given) => (given === "" ? undefined : given), text.nullish());

const removed = strictObject({ url: ifGiven(url), name: ifGiven(name) }).refine(
  (endpoint) => endpoint.url ?? endpoint.name,
  "must have a url or a name",
);

const bytesMax = 2 * 1024 * 1024;

/**
 * Endpoints are read one by one, so that a caller may run other work in between; each is checked by the plan and the
 * destination policy.
 */
const upsertBody: BodyRow<(context: EndpointContext) => Iterable<GroupEndpoint | Fault | Pause>> = {
  schema: strictObject({ endpoints: z.array(upserted).min(1) }),
  bytesMax,
  parse: (bytes) => (context) => readUpsertEndpoints(bytes, context),
};
const removeBody: BodyRow<Iterable<EndpointSelector | Fault | Pause>> = {
  schema: strictObject({ endpoints: z.array(removed).min(1) }),
  bytesMax,
  parse: readRemoveEndpoints,
};

export const urlGroups = {
  upsertEndpoints: endpoint({
    method: "post",
    path: "/v2/topics/{urlGroupName}/endpoints",
    kind: "write",
    names: ["urlGroupName"],
    summary: "Add endpoints to a URL group, which is made if it does not exist",
    body: upsertBody,
    answers: { 200: { says: "Added" } },
    faults: ["forbidden", "beyond_plan", "too_large"],
  }),
  removeEndpoints: endpoint({
    method: "delete",
    path: "/v2/topics/{urlGroupName}/endpoints",
    kind: "write",
    names: ["urlGroupName"],
    summary: "Remove endpoints by name or URL; a group without endpoints is removed",
    body: removeBody,
    answers: { 200: { says: "Removed" } },
    faults: ["forbidden", "not_found", "too_large"],
  }),
  listGroups: endpoint({
    method: "get",
    path: "/v2/topics",
    kind: "list",
    summary: "List URL groups",
    answers: { 200: { says: "All groups", schema: z.array(groupSchema), inPieces: true } },
    faults: [],
  }),
  readGroup: endpoint({
    method: "get",
    path: "/v2/topics/{urlGroupName}",
    kind: "read",
    names: ["urlGroupName"],
    summary: "Read a URL group",
    answers: { 200: { says: "The group", schema: groupSchema, inPieces: true } },
    faults: ["not_found"],
  }),
  configureGroup: endpoint({
    method: "patch",
    path: "/v2/topics/{urlGroupName}",
    kind: "write",
    names: ["urlGroupName"],
    summary:
      "Set the configuration headers of every publish to the group that does not give its own. Replaces all earlier ones",
    body: {
      schema: strictObject({ headers: defaultHeadersSchema }),
      bytesMax: jsonBytesMax,
      parse: parseDefaultHeaders,
    },
    answers: { 200: { says: "Set" } },
    faults: ["forbidden", "not_found", "beyond_plan", "too_large"],
  }),
  removeGroup: endpoint({
    method: "delete",
    path: "/v2/topics/{urlGroupName}",
    kind: "write",
    names: ["urlGroupName"],
    summary: "Remove a URL group; messages already made are not touched",
    answers: { 200: { says: "Removed, or there was none" } },
    faults: ["forbidden"],
  }),
};

export type EndpointContext = {
  readonly plan: Plan;
  readonly readUrl: ReadUrl;
};

/**
 * Yields the endpoints, and a fault as the last. The engine, which adds them to the group, checks that the whole
 * group stays within the plan.
 */
export function* readUpsertEndpoints(
  body: Uint8Array,
  { plan, readUrl }: EndpointContext,
): Generator<GroupEndpoint | Fault | Pause, void, undefined> {
  let index = 0;
  for (const endpoint of readJsonList(body, "endpoints", upserted)) {
    if (endpoint === pause) {
      yield pause;
      continue;
    }
    if (isFault(endpoint)) return yield endpoint;
    if (index >= plan.groupEndpointsMax) return yield tooManyEndpoints(plan);
    const read = readUrl(endpoint.url, `endpoints[${index++}].url`);
    if (isFault(read)) return yield read;
    yield { url: read, ...nameOf(endpoint) };
  }
  if (index === 0) yield noEndpoint;
}

export type EndpointSelector = { readonly name?: string; readonly url?: string };

/** Endpoints to remove are not checked: they may have been added under another policy. */
export function* readRemoveEndpoints(
  body: Uint8Array,
): Generator<EndpointSelector | Fault | Pause, void, undefined> {
  let count = 0;
  for (const endpoint of readJsonList(body, "endpoints", removed)) {
    if (endpoint === pause) {
      yield pause;
      continue;
    }
    if (isFault(endpoint)) return yield endpoint;
    if (count++ >= selectorsMax) return yield tooManySelectors;
    yield { ...(typeof endpoint.url === "string" && { url: endpoint.url }), ...nameOf(endpoint) };
  }
  if (count === 0) yield noEndpoint;
}

/** The largest possible group. */
const selectorsMax = planBounds.groupEndpointsMax.max;
const tooManySelectors = fault("malformed", `endpoints: must hold at most ${selectorsMax}`);
const noEndpoint = fault("malformed", "endpoints: must hold at least one endpoint");

const nameOf = (endpoint: { readonly name?: string | null | undefined }) =>
  typeof endpoint.name === "string" ? { name: endpoint.name } : {};

const configuration = strictObject({
  headers: z.record(
    z.string(),
    z.union([z.string(), z.array(z.string())], "must be a text or a list of texts"),
    "must be an object",
  ),
});

/** Returns names and values; the header table checks them as it does those of a publish. */
function parseDefaultHeaders(body: Uint8Array): Headers | Fault {
  const parsed = parseJson(body, configuration);
  if (isFault(parsed)) return parsed;
  const pairs = Object.entries(parsed.headers).flatMap(([name, values]) =>
    [values].flat().map((value): HeaderPair => [name, value.trim()]),
  );
  return pairs.map(faultOfDefault).find((refused) => refused !== undefined) ?? pairs;
}

function faultOfDefault([name, value]: HeaderPair): Fault | undefined {
  const lower = name.toLowerCase();
  const dialect = dialectOf(lower);
  const suffix = lower.slice(prefixLength);
  if (dialect === undefined)
    return malformed({ name: `headers.${name.slice(0, 128)}` }, "must be a configuration header");
  // A caller that reads the headers, changes one and sets all would forward the hash.
  if (isRedacted(value))
    return malformed({ name: `headers.${name}` }, "is redacted: give the value itself");
  return isConfiguration(suffix) ? undefined : refuseDefault(name, suffix, dialect);
}

type GroupJson = JsonOf<typeof groupSchema>;

export const groupClosing = "]}";

/** Returns the group's text up to its first endpoint. Endpoints come last, so a long group is written in pieces. */
export function groupOpening(group: Group, sha256: Sha256Hex): string {
  const empty: GroupJson = {
    name: group.name,
    createdAt: group.createdAt,
    updatedAt: group.updatedAt,
    ...(group.headers && { headers: byName(hidden(group.headers, sha256)) }),
    endpoints: [],
  };
  return JSON.stringify(empty).slice(0, -groupClosing.length);
}

/** Hides what the headers themselves redact, as in the messages that have them. */
function hidden(headers: Headers, sha256: Sha256Hex): Headers {
  const redaction = redactionOf(headers);
  return headers.map(([name, value]) => {
    const [, forwarded] = forwardedName.exec(name) ?? [];
    const hides = forwarded !== undefined && redactsHeader(redaction, forwarded);
    return [name, hides ? redacted(value, sha256) : value];
  });
}

/** The name that a header has at the destination or at the callback. */
const forwardedName = /^.{8}(?:(?:failure-)?callback-)?forward-(.+)$/i;

function redactionOf(headers: Headers): Redaction | undefined {
  const given = headers.find(([name]) => /^.{8}redact-fields$/i.test(name));
  if (!given) return undefined;
  const [name, value] = given;
  const dialect = dialectOf(name.toLowerCase());
  const redaction = dialect && parseRedaction({ name, value, dialect });
  return redaction === undefined || isFault(redaction) ? undefined : redaction;
}

function byName(headers: Headers): Readonly<Record<string, string | string[]>> {
  const grouped = Map.groupBy(headers, ([name]) => name);
  const values = ([name, pairs]: [string, HeaderPair[]]) => {
    const [first = "", ...others] = pairs.map(([, value]) => value);
    return [name, others.length > 0 ? [first, ...others] : first] as const;
  };
  return Object.fromEntries([...grouped].map(values));
}

export const endpointsText = (endpoints: readonly GroupEndpoint[]): string =>
  endpoints.map((endpoint) => JSON.stringify(endpointJson(endpoint))).join(",");

const endpointJson = ({ name, url }: GroupEndpoint): GroupJson["endpoints"][number] => ({
  ...(name !== undefined && { name }),
  url,
});
