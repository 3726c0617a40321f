export { type Documents, type DocumentsOptions, openDocuments } from "./open.ts";
