/** An exchange over `fetch`, for browsers, edge runtimes, Deno, Bun and Node. */
import { type Exchange } from "./transport.ts";
import { isUnsent } from "./unsent.ts";

export const overFetch = (): Exchange => ({
  exchange: async ({ body, headers, method, signal, timeoutMs, url }) => {
    const timeUp = AbortSignal.timeout(timeoutMs);
    try {
      const answer = await fetch(url, {
        ...{ method, headers, redirect: "manual" },
        ...(body !== undefined && { body }),
        signal: signal ? AbortSignal.any([signal, timeUp]) : timeUp,
      });
      const text = await answer.text();
      return {
        ...{ kind: "answered", status: answer.status, text },
        header: (name) => answer.headers.get(name),
      };
    } catch (error) {
      const { cause = error } = Object(error) as { readonly cause?: unknown };
      return { kind: "failed", isUnsent: isUnsent(cause), cause };
    }
  },
  // The runtime owns the connections.
  close: () => undefined,
});
