// The environment of a suite: the worker's own realm, put back after the suite, and a folder for temporary files,
// removed then.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ModuleMocker } from "jest-mock";

class NativeEnvironment {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  fakeTimers = null;
  fakeTimersModern = null;
  #env = { ...process.env };
  #console = console;
  #exit = process.exit;
  #suite;
  #folder;

  constructor(_config, { testPath }) {
    this.#suite = testPath;
  }

  getVmContext() {
    return null;
  }

  async setup() {
    process.env.POSTHASTE_TEST_SUITE = this.#suite;
    this.#folder = mkdtempSync(join(tmpdir(), "posthaste-"));
    process.env.TMPDIR = this.#folder;
  }

  async teardown() {
    this.moduleMocker.restoreAllMocks();
    for (const name of Object.keys(process.env)) if (!(name in this.#env)) delete process.env[name];
    Object.assign(process.env, this.#env);
    globalThis.console = this.#console;
    process.exit = this.#exit;
    // Processes that the suite has killed may still write.
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

export { NativeEnvironment as "module.exports" };
