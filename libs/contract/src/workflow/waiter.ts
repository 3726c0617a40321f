/** A waiter for an event, as readers see it. */
import { redacted, redactsHeader, type Run, type Sha256Hex } from "@posthaste/domain";
import * as z from "zod";
import { headersShape, type JsonOf } from "../representations/schemas.ts";
import { dialectOf } from "../wire/dialects.ts";

export const waiterSchema = z
  .object({
    url: z.string(),
    headers: headersShape,
    deadline: z.int().describe("Unix seconds"),
    timeoutUrl: z.string().optional(),
    timeoutBody: z.string().optional(),
    timeoutHeaders: headersShape.optional(),
  })
  .meta({ id: "Waiter" });

type WaiterJson = JsonOf<typeof waiterSchema>;
type Grouped = Readonly<Record<string, readonly string[]>>;
type Waiter = Omit<WaiterJson, "headers" | "timeoutHeaders"> & {
  readonly headers: Grouped;
  readonly timeoutHeaders?: Grouped;
};

/** Returns a waiter. Values that its run redacts are hidden. */
export function waiterJson(
  { headers, timeoutBody, timeoutHeaders, ...waiter }: Waiter,
  { plan: { policy } }: Pick<Run, "plan">,
  sha256: Sha256Hex,
): WaiterJson {
  const { redaction } = policy;
  const hide = (value: string): string => redacted(value, sha256);
  const shown = (given: Grouped): Record<string, string[]> =>
    Object.fromEntries(
      Object.entries(given).map(([name, values]) => {
        const user = userNameOf(name);
        const isHidden = user !== undefined && redactsHeader(redaction, user);
        return [name, isHidden ? values.map(hide) : [...values]];
      }),
    );
  return {
    ...waiter,
    headers: shown(headers),
    ...(timeoutBody !== undefined && {
      timeoutBody: redaction?.body ? hide(timeoutBody) : timeoutBody,
    }),
    ...(timeoutHeaders && { timeoutHeaders: shown(timeoutHeaders) }),
  };
}

/**
 * Returns the user's name of a header, which may follow a prefix of this service. Undefined for this service's own
 * headers, by which clients know their runs.
 */
function userNameOf(name: string): string | undefined {
  const sent = name.toLowerCase().replace(forwarded, "");
  return dialectOf(sent) ? undefined : sent;
}

const forwarded = /^(?:service|upstash)-(?:(?:failure-)?callback-)?forward-/;
