/** A standalone of the last release, which this build can replace. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asInTheImage, freePort, type RunningService, ServerProcess } from "@posthaste/local";
import { bareEnv } from "@posthaste/testing/bare-env";
import { type Cluster, untilWell } from "../world/cluster.ts";
import { type LastRelease } from "./last-release.ts";

export type Standalone = Cluster & {
  /** Lets the next start be one of this build. */
  upgrade(): void;
};

const main = join(import.meta.dirname, "../../../services/standalone/process/main.ts");

export async function startStandalone({ name, program }: LastRelease): Promise<Standalone> {
  const dir = mkdtempSync(join(tmpdir(), "posthaste-upgrade-"));
  const port = await freePort(1, 2);
  const data = join(dir, "data");
  let isNewer = false;
  const server = new ServerProcess(
    {
      ...{ name: "standalone", file: process.execPath, cwd: dir },
      get args() {
        const older = [program, "dev", "--port", String(port), "--data", data];
        return [...asInTheImage.options, ...(isNewer ? [main] : older)];
      },
      env: {
        ...bareEnv,
        ...asInTheImage.env,
        ...{ POSTHASTE_PROFILE: "dev", POSTHASTE_LOG_LEVEL: "warn", POSTHASTE_CATCHER: "off" },
        ...{ POSTHASTE_HOST: "127.0.0.1", POSTHASTE_PORT: String(port) },
        POSTHASTE_DATA_DIR: data,
      },
    },
    () => isReady(port),
  );
  await server.start();
  // A gateway to callers and to the run.
  const gateway: RunningService = {
    ...{ name: "standalone 1", service: "gateway", port },
    ...{ url: `http://127.0.0.1:${port}`, process: server },
  };
  const services = {
    ...{ all: [gateway], gateway, management: gateway },
    of: () => [gateway],
    output: () => server.output,
    stop: () => server.stop(),
  };
  return {
    against: [`posthaste ${name}`],
    services,
    upgrade: () => void (isNewer = true),
    untilWell: () => untilWell(services),
    stop: async () => {
      await server.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function isReady(port: number): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
  await answer?.arrayBuffer();
  return answer?.status === 200;
}
