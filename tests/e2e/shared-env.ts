/** The processes that suites share, as to their variables. */
import { consoleFolder } from "./console-folder.ts";
import { operatorEnv } from "./operator.ts";
import { type Settings } from "./test-server.ts";

/** The operator's and the console's. */
export const sharedEnv: Readonly<Record<string, string>> = {
  ...operatorEnv,
  POSTHASTE_CONSOLE: consoleFolder,
};

/** Reports whether a suite with these settings may use shared processes. */
export const mayShare = ({ env = {}, ownProcesses = false }: Settings): boolean =>
  !ownProcesses && Object.entries(env).every(([name, value]) => sharedEnv[name] === value);

export function ofOthersToo(): never {
  throw new Error("what these processes print is also about other suites: ask for ownProcesses");
}
