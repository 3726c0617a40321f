/** Explains why MongoDB's driver refuses an address. */

/** Names of errors whose messages are about options, and repeat neither hosts nor credentials. */
const ofOptions: ReadonlySet<string> = new Set([
  "MongoAPIError",
  "MongoInvalidArgumentError",
  "MongoMissingCredentialsError",
  "MongoParseError",
]);

/** Returns one line without the address, which may hold a password. */
export function refusedUri(error: unknown): string {
  const isOfOptions =
    Error.isError(error) && ofOptions.has(error.name) && !error.message.includes("://");
  const what = isOfOptions
    ? error.message.split("\n", 1)[0]
    : "the user or the hosts are malformed";
  return `POSTHASTE_MONGODB_URI is refused by the driver: ${what}`;
}
