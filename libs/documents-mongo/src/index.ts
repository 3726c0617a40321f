export { type Connection } from "./connection.ts";
export {
  type DocumentsMigration,
  type DocumentsMigrationOptions,
  openDocumentsMigration,
} from "./migrate.ts";
export { type Documents, type DocumentsOptions, openDocuments } from "./open.ts";
export { openPorts } from "./ports.ts";
export { createPatience } from "./retry.ts";
