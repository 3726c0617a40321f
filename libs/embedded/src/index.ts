export { type Embedded, type EmbeddedOptions, openEmbedded } from "./embedded.ts";
