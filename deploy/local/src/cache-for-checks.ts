/** What deploy/checks shares: its tools lie in the stack's cache. */
export { cached } from "./cache.ts";
export { onPath } from "./process/run.ts";
