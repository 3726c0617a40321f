/** Serves the part of the Kubernetes API that Helm asks during a render: the list of kinds, and Secrets by name. */
import { createServer } from "node:http";
import { type AddressInfo } from "node:net";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";

export type ClusterSecrets = Readonly<Record<string, Readonly<Record<string, string>>>>;

const resources = [
  { name: "secrets", kind: "Secret", namespaced: true, verbs: ["get", "list"] },
  { name: "serviceaccounts", kind: "ServiceAccount", namespaced: true, verbs: ["get", "list"] },
];

/** Runs `use` with the kubeconfig of a cluster that holds only these Secrets. */
export async function withCluster<Result>(
  secrets: ClusterSecrets,
  use: (kubeconfig: string) => Promise<Result>,
): Promise<Result> {
  const answer = (path: string): { readonly kind: string; readonly [field: string]: unknown } => {
    if (path === "/api/v1")
      return { kind: "APIResourceList", apiVersion: "v1", groupVersion: "v1", resources };
    if (path.endsWith("/serviceaccounts"))
      return { kind: "ServiceAccountList", apiVersion: "v1", metadata: {}, items: [] };
    const [, name] = /\/secrets\/([^/]+)$/.exec(path) ?? [];
    const data = secrets[name ?? ""];
    return data === undefined
      ? { kind: "Status", apiVersion: "v1", status: "Failure", reason: "NotFound", code: 404 }
      : { kind: "Secret", apiVersion: "v1", metadata: { name }, data };
  };
  const server = createServer((request, response) => {
    const body = answer(new URL(request.url ?? "", "http://cluster").pathname);
    response.writeHead(body.kind === "Status" ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const folder = mkdtempSync(join(tmpdir(), "posthaste-cluster-"));
  try {
    const { port } = server.address() as AddressInfo;
    const kubeconfig = join(folder, "kubeconfig.yaml");
    writeFileSync(kubeconfig, stringify(configOf(`http://127.0.0.1:${port}`)));
    return await use(kubeconfig);
  } finally {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  }
}

const configOf = (server: string) => ({
  apiVersion: "v1",
  kind: "Config",
  "current-context": "test",
  clusters: [{ name: "test", cluster: { server } }],
  users: [{ name: "test", user: {} }],
  contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
});
