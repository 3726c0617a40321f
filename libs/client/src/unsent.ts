/** Error codes from before a connection is open: nothing was sent. */
const codes: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENETUNREACH",
  "EHOSTUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** Reports whether nothing was sent. Browsers give no code, so their failures count as sent. */
export const isUnsent = (error: unknown): boolean => {
  const { code, message } = Object(error) as {
    readonly code?: unknown;
    readonly message?: unknown;
  };
  // The error of fetch for a port that it refuses to connect to.
  return codes.has(code) || message === "bad port";
};
