export {
  type CopiedDatabase,
  copyDatabase,
  databaseVersion,
  restoreDatabase,
} from "./database/copy.ts";
export { refuseOldSqlite } from "./database/open.ts";
export { databaseFile } from "./database/schema.ts";
export { type Embedded, type EmbeddedOptions, openEmbedded } from "./embedded.ts";
