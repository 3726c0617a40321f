export {
  type DocumentsMigration,
  type DocumentsMigrationOptions,
  openDocumentsMigration,
} from "./migrate.ts";
export { type Documents, type DocumentsOptions, openDocuments } from "./open.ts";
