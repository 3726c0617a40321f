/** What MongoDB's driver finds wrong with the address when it is opened. */

/** Names of errors that speak of options, and repeat neither hosts nor what stands before them. */
const ofOptions: ReadonlySet<string> = new Set([
  "MongoAPIError",
  "MongoInvalidArgumentError",
  "MongoMissingCredentialsError",
  "MongoParseError",
]);

/** In one line, without the address: that may hold a password. */
export function refusedUri(error: unknown): string {
  const isOfOptions =
    Error.isError(error) && ofOptions.has(error.name) && !error.message.includes("://");
  const what = isOfOptions
    ? error.message.split("\n", 1)[0]
    : "its user or its hosts are malformed";
  return `POSTHASTE_MONGODB_URI is refused by the driver: ${what}`;
}
