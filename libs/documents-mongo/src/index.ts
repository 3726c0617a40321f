export { type Connection } from "./connection.ts";
export { type DocumentsMigration, openDocumentsMigration } from "./migrate.ts";
export { type Documents, openDocuments } from "./open.ts";
export { openPorts } from "./ports.ts";
export { createPatience } from "./link/retry.ts";
