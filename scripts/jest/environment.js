// The environment of a suite: the worker's own realm, put back after the suite.
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

  constructor(_config, { testPath }) {
    this.#suite = testPath;
  }

  getVmContext() {
    return null;
  }

  async setup() {
    process.env.POSTHASTE_TEST_SUITE = this.#suite;
  }

  async teardown() {
    this.moduleMocker.restoreAllMocks();
    for (const name of Object.keys(process.env)) if (!(name in this.#env)) delete process.env[name];
    Object.assign(process.env, this.#env);
    globalThis.console = this.#console;
    process.exit = this.#exit;
  }
}

export { NativeEnvironment as "module.exports" };
