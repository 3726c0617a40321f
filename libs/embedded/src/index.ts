export {
  type CopiedDatabase,
  copyDatabase,
  databaseFile,
  databaseVersion,
  restoreDatabase,
} from "./database/copy.ts";
export { type Embedded, type EmbeddedOptions, openEmbedded } from "./embedded.ts";
