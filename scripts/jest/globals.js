// Replaces `@jest/globals` in test files, which Node loads itself (runtime.js). The bindings are those of the running suite.
export let jest, expect, describe, it, test, beforeAll, beforeEach, afterAll, afterEach;

export function setGlobals(globals) {
  ({ jest, expect, describe, it, test, beforeAll, beforeEach, afterAll, afterEach } = globals);
}
