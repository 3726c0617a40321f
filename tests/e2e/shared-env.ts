/** The variables of the processes that suites share. */
import { consoleFolder } from "./console-folder.ts";
import { operatorEnv } from "./operator.ts";
import { type Settings } from "./test-server.ts";

/** A bound of the histories in deliveries that is low enough for suites to reach it. */
export const boundedEnv = { POSTHASTE_MAX_INLINE_HISTORY_KIB: "100" };

export const sharedEnv: Readonly<Record<string, string>> = {
  ...operatorEnv,
  POSTHASTE_CONSOLE: consoleFolder,
  // Suites look for secrets in what the processes print.
  POSTHASTE_LOG_LEVEL: "debug",
  ...boundedEnv,
};

/** Reports whether a suite with these settings may use shared processes. */
export const mayShare = ({ env = {}, ownProcesses = false }: Settings): boolean =>
  !ownProcesses && Object.entries(env).every(([name, value]) => sharedEnv[name] === value);
