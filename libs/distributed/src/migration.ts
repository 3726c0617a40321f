/** Opens the migration of the storage ports as configured. */
import { type DocumentsMigration, openDocumentsMigration } from "@posthaste/documents-mongo";
import { type ConfigOf, systemClock, systemRandom } from "@posthaste/process";
import { closedBy, tlsOf } from "./documents.ts";
import { refusedUri } from "./refused-uri.ts";
import { tlsFailure } from "./tls-failures.ts";

export function openMigration(
  config: ConfigOf<"migrate">,
  tell: (doing: string) => void,
): DocumentsMigration {
  try {
    return openDocumentsMigration({
      uri: config.mongodbUri,
      database: config.mongodbDatabase,
      tls: tlsOf(config),
      clock: systemClock(),
      random: systemRandom(),
      tell,
    });
  } catch (error) {
    throw new Error(refusedUri(error), { cause: error });
  }
}

/** Returns one line on what an operator can do about a failure. */
export function migrationFailure(config: ConfigOf<"migrate">, error: unknown): string {
  const told =
    tlsFailure("MongoDB", config.mongodbTlsCa !== undefined, error) ?? closedBy(config, error);
  const own = Error.isError(error) ? error.message : String(error);
  return told ?? own.split("\n", 1)[0] ?? own;
}
