export { openBus } from "./bus.ts";
export { openDocuments } from "./documents.ts";
export { openTokens } from "./tokens.ts";
