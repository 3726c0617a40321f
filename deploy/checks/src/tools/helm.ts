import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ClusterSecrets, withCluster } from "./cluster.ts";
import { buildGoTool } from "./go-tool.ts";
import { type Ran, run } from "./run.ts";

export const buildHelm = () => buildGoTool({ module: "helm", program: "helm.sh/helm/v3/cmd/helm" });

/** Runs helm with its own settings instead of the user's. */
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

/** Runs `helm template` as `helm install` would render, beside a cluster that holds these Secrets. Undefined: without a cluster. */
export function runHelmTemplate(
  args: readonly string[],
  secrets: ClusterSecrets | undefined,
): Promise<Ran> {
  if (secrets === undefined) return runHelm(["template", ...args]);
  return withCluster(secrets, (kubeconfig) =>
    runHelm(["template", ...args, "--dry-run=server", "--kubeconfig", kubeconfig]),
  );
}
