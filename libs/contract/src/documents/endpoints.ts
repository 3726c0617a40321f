/** All endpoints, for the documents: `docs/openapi.json` and `docs/errors.md` are generated from their rows. */
import { type FaultCode } from "@posthaste/domain";
import { type Endpoint } from "../endpoints/endpoint.ts";
import { eventTarget } from "../event-targets.ts";
import { gatewayEndpoints } from "../endpoints/index.ts";
import { type RawTarget } from "../endpoints/raw-target.ts";
import { managementEndpoints } from "../management/index.ts";
import { rawTargets } from "../raw-targets.ts";
import { type EndpointEntry } from "./endpoint-entry.ts";

export const faultsEverywhere: readonly FaultCode[] = [
  "unauthorized",
  "method_not_allowed",
  "timed_out",
  "too_many_requests",
  "headers_too_large",
  "internal",
  "overloaded",
];

function entryOfRaw({ prefix, names, ...row }: RawTarget): EndpointEntry {
  const path = [prefix, ...names.map((name) => `{${name}}`), "{destination}"].join("/");
  const faults = faultsOf({ path, kind: row.kind, faults: row.faults });
  return { ...row, method: "post", path, faults, isRaw: true };
}

const entriesOf = (rows: Readonly<Record<string, Endpoint>>): readonly EndpointEntry[] =>
  Object.entries(rows).map(([operation, row]) => ({
    operation,
    ...row,
    faults: [...faultsOf(row), ...(row.body.bytesMax > 0 ? ["encoding_not_read" as const] : [])],
  }));

/**
 * Adds `forbidden`, for a token without the scope, and `malformed`, for an unknown name in the query or a broken
 * escape in the path. If the path ends with the name of an event, both are part of that name.
 */
const faultsOf = ({ path, kind, faults }: Pick<Endpoint, "path" | "kind" | "faults">) => [
  ...new Set<FaultCode>([
    ...(eventTarget(path) === undefined ? ["malformed" as const] : []),
    ...(kind === "self" ? [] : ["forbidden" as const]),
    ...faults,
  ]),
];

export const endpoints: readonly EndpointEntry[] = [
  ...rawTargets.map(entryOfRaw),
  ...entriesOf(gatewayEndpoints),
  ...entriesOf(managementEndpoints).map((entry) => ({ ...entry, api: "management" as const })),
];
