export { openBus } from "./bus.ts";
export { openDocuments } from "./documents.ts";
export { migrationFailure, openMigration } from "./migration.ts";
export { openTokens } from "./tokens.ts";
