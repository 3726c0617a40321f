/** Jest's global setup of the gate `apart`, whose suites would otherwise mostly start six processes each. */
import { randomBytes } from "node:crypto";
import { appendFileSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningServices, startServices } from "@posthaste/local";
import { testStores } from "@posthaste/testing";
import { servicesEnv } from "./apart.ts";
import { buildConsole } from "./console-folder.ts";
import { sharedEnv } from "./shared-env.ts";
import { share } from "./shared-services.ts";

export default async function start(): Promise<void> {
  const room = `e2e-${randomBytes(6).toString("hex")}`;
  buildConsole();
  const env = { ...servicesEnv, ...sharedEnv };
  const folder = mkdtempSync(join(tmpdir(), "posthaste-e2e-"));
  const outputFile = join(folder, "output");
  const services = await startServices({
    ...{ stores: testStores(), room, env },
    onLine: (_, line) => appendFileSync(outputFile, `${line}\n`),
  });
  const { gateway, management } = services;
  share({ port: gateway.port, managementPort: management.port, room, outputFile });
  started.services = services;
  started.folder = folder;
}

/** Global, since Jest may load this module a second time for the teardown. */
export const started = globalThis as { services?: RunningServices; folder?: string };
