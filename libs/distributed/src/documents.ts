/** The storage ports as configured, with secrets sealed at rest, and the time that they go by. */
import { openDocuments as openMongo } from "@posthaste/documents-mongo";
import { type ConfigOf, createSealer, type ProcessParts, sealAccounts } from "@posthaste/runtime";

type DocumentsConfig = Pick<
  ConfigOf<"management">,
  "mongodbDatabase" | "mongodbUri" | "sealingKeys"
>;

export async function openDocuments(parts: ProcessParts, config: DocumentsConfig) {
  const { clock, log, random, readiness } = parts;
  const documents = await openMongo({
    uri: config.mongodbUri,
    database: config.mongodbDatabase,
    clock,
    log,
    random,
  });
  readiness.watch("mongodb", "needed", () => documents.problem());
  const sealer = createSealer(config.sealingKeys);
  return {
    ports: { ...documents.ports, accounts: sealAccounts(documents.ports.accounts, sealer) },
    /** Due times are compared with the store's time, whatever the clocks of the processes show. */
    clock: documents.storeClock,
    close: () => documents.close(),
  };
}
