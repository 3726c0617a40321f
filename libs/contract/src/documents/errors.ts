/** Renders `docs/errors.md` from the catalogue of faults and the endpoint table. */
import { type FaultCode } from "@posthaste/domain";
import { type FaultEntry, faultCatalogue } from "../faults/catalogue.ts";
import { endpoints, faultsEverywhere } from "./endpoints.ts";

export function renderErrors(): string {
  const rows = Object.entries(faultCatalogue)
    .toSorted(([, a], [, b]) => a.status - b.status)
    .map(([code, entry]) => catalogueRow(code, entry));
  return [
    "# Errors",
    "",
    'Every refusal has the body `{"error": "<text>"}`. If a header, parameter or field is the cause, the text names it as you wrote it. The code is in the header `Posthaste-Fault`.',
    "",
    "| Status | Code | Meaning | What to do | Retry-After |",
    "| --- | --- | --- | --- | --- |",
    ...rows,
    "",
    "## By endpoint",
    "",
    `Every endpoint may answer ${listed(faultsEverywhere)}; in addition (*m*: an endpoint of the management API):`,
    "",
    "| Endpoint | Refusals |",
    "| --- | --- |",
    ...endpoints.map(
      ({ api, method, path, faults }) =>
        `| \`${method.toUpperCase()} ${path}\`${api === "management" ? " *m*" : ""} | ${faults.length > 0 ? listed(faults) : "none"} |`,
    ),
    "",
  ].join("\n");
}

const catalogueRow = (code: string, { status, title, advice, retryAfter }: FaultEntry): string =>
  `| ${status} | \`${code}\` | ${title} | ${advice} | ${retryAfter === undefined ? "" : `${retryAfter} s`} |`;

const listed = (codes: readonly FaultCode[]): string =>
  codes.map((code) => `${faultCatalogue[code].status} \`${code}\``).join(", ");
