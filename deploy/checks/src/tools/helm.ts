/** The real helm. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildGoTool } from "./go-tool.ts";
import { type Ran, run } from "./run.ts";

export const buildHelm = () => buildGoTool({ module: "helm", program: "helm.sh/helm/v3/cmd/helm" });

/** Runs helm with settings of its own instead of this user's. */
export async function runHelm(args: readonly string[]): Promise<Ran> {
  const home = mkdtempSync(join(tmpdir(), "posthaste-helm-"));
  try {
    const env = {
      PATH: process.env["PATH"],
      HOME: home,
      HELM_CACHE_HOME: home,
      HELM_CONFIG_HOME: home,
      HELM_DATA_HOME: home,
    };
    return await run(await buildHelm(), args, { env });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
