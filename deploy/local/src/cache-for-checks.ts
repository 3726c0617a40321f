/** The exports for deploy/checks, whose tools share the stack's cache. */
export { cached } from "./cache.ts";
export { onPath } from "./process/run.ts";
