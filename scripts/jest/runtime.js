// Loads suites by Node's own loader, as the product is loaded. The suites of a worker share the modules of the
// product and of packages. Each suite has its own copies of modules that only suites use, which may keep state and
// register hooks.
import { createRequire, registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import { setGlobals } from "./globals.js";

const require = createRequire(import.meta.url);
const globalsUrl = new URL("globals.js", import.meta.url).href;
const handlersKey = Symbol.for("EVENT_HANDLERS");
const timeoutKey = Symbol.for("TEST_TIMEOUT_SYMBOL");

const root = new URL("../../", import.meta.url).href;
/** Matches modules of suites: the suites themselves, their fixtures and the modules of these folders. */
const ofSuites = new RegExp(
  `^${RegExp.escape(root)}(.*\\.(test|fixture)|(tests|libs/testing)/.*)\\.ts$`,
);
/** The number of the running suite, in the addresses of its own modules. */
let suites = 0;

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === "@jest/globals") return { url: globalsUrl, shortCircuit: true };
    const found = next(specifier, context);
    return ofSuites.test(found.url) ? { ...found, url: `${found.url}?suite=${suites}` } : found;
  },
});

class NativeRuntime {
  #environment;

  constructor(_config, environment) {
    this.#environment = environment;
  }

  /** Loads Jest's framework anew: its state is that of one suite. */
  requireInternalModule(path) {
    delete require.cache[path];
    delete globalThis[handlersKey];
    delete globalThis[timeoutKey];
    return require(path);
  }

  requireModule(path) {
    return require(path);
  }

  setGlobalsForRuntime(globals) {
    const { moduleMocker } = this.#environment;
    const jest = {
      setTimeout: (ms) => {
        globalThis[timeoutKey] = ms;
      },
      spyOn: moduleMocker.spyOn.bind(moduleMocker),
    };
    setGlobals({ ...globals, jest });
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  async unstable_importModule(path) {
    suites += 1;
    await import(pathToFileURL(path).href);
  }

  getSourceMaps() {
    return new Map();
  }

  getAllCoverageInfoCopy() {
    return undefined;
  }

  enterTestCode() {}
  leaveTestCode() {}
  teardown() {}
}

export { NativeRuntime as "module.exports" };
