/** With `-Header-Forward: true`, the request's own headers are sent to the destination, too, for webhooks that cannot set prefixes. */
import { type Headers } from "@posthaste/domain";
import { dialectOf } from "../wire/dialects.ts";
import { takeForwarded } from "./forwarded.ts";
import { type LeaveOut, type RequestDraft } from "./setting.ts";

/**
 * Returns the unprefixed headers of `flat` that can be sent. Credentials for this service are not sent to the destination.
 */
export function incomingHeaders(flat: readonly string[], leaveOut: LeaveOut): Headers {
  const incoming: Pick<RequestDraft, "forwarded" | "unfit"> = { forwarded: [] };
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const name = flat[i] ?? "";
    const lower = name.toLowerCase();
    if (kept.has(lower) || dialectOf(lower) !== undefined) continue;
    const before = incoming.forwarded.length;
    takeForwarded(name, name, (flat[i + 1] ?? "").trim(), incoming);
    if (incoming.forwarded.length === before) leaveOut(name);
  }
  return incoming.forwarded;
}

/** Content-Type is read separately. */
const kept: ReadonlySet<string> = new Set(["authorization", "host", "content-type"]);

export function withoutReplaced(incoming: Headers, own: Headers): Headers {
  const replaced = new Set(own.map(([name]) => name.toLowerCase()));
  return incoming.filter(([name]) => !replaced.has(name.toLowerCase()));
}
