/** Errors of the system before a connection stands: nothing was sent. */
const codes: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENETUNREACH",
  "EHOSTUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** Undefined codes are of browsers, which say no more than that it has failed. */
export const isUnsent = (error: unknown): boolean => {
  const { code, message } = Object(error) as {
    readonly code?: unknown;
    readonly message?: unknown;
  };
  // A port that fetch refuses to ask.
  return codes.has(code) || message === "bad port";
};
