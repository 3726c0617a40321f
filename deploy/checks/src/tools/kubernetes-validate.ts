/**
 * Validates manifests by Kubernetes' own schemas, with the package `kubernetes-validate`, verified by the hashes in its
 * requirements.txt.
 */
import { join } from "node:path";
import { cached } from "@posthaste/local/cache";
import { root } from "../root.ts";
import { hashOf } from "./go-tool.ts";
import { mustRun, type Ran, run } from "./run.ts";

/** The version of the schemas, and of the cluster that helm renders for. */
export const kubernetesVersion = "1.37.0";

/** Fails for a field that Kubernetes does not know, or a value that it does not take. */
export async function runKubernetesValidate(files: readonly string[]): Promise<Ran> {
  const args = ["-m", "kubernetes_validate", "--strict", "-k", kubernetesVersion, ...files];
  const env = { PATH: process.env["PATH"], PYTHONPATH: await installKubernetesValidate() };
  return run("python3", args, { env });
}

/** Returns a folder for PYTHONPATH. The folder holds machine code, so it belongs to one version of Python. */
export async function installKubernetesValidate(): Promise<string> {
  const source = join(root, "deploy/checks/tools/kubernetes");
  const python = await mustRun("python3", ["-c", "import sys; print(sys.version)"]);
  return cached(`check-kubernetes-${hashOf(source, python)}`, async (making) => {
    const verified = ["--require-hashes", "--only-binary=:all:", "-r", "requirements.txt"];
    const quiet = ["--quiet", "--disable-pip-version-check", "--no-compile", "--no-deps"];
    const args = ["-m", "pip", "install", ...quiet, ...verified, "--target", making];
    await mustRun("python3", args, { cwd: source });
  });
}
