import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it, jest } from "@jest/globals";
import { parse } from "yaml";
import { root } from "../root.ts";
import { buildMsMax, describeWith } from "../tools/describe-with.ts";
import { customKinds, loadCustomKinds } from "../tools/custom-kinds.ts";
import { buildHelm } from "../tools/helm.ts";
import { addedKinds, namespace, render, type Rendered } from "./manifests.ts";

jest.setTimeout(buildMsMax);

const files = join(root, "helm/posthaste/files");

describeWith(["go"], "the chart's extras", () => {
  let observed: Rendered;

  beforeAll(async () => {
    await buildHelm();
    observed = await render("observed");
  });

  it("are off by default, except the pod of helm test", async () => {
    const { kinds } = await render("minimal");

    for (const api of addedKinds) expect(kinds).not.toContain(api.split("/").at(-1));
    for (const kind of ["Ingress", "ConfigMap"]) expect(kinds).not.toContain(kind);
    expect((await render("minimal")).of("Pod").map((pod) => pod.metadata.annotations)).toEqual([
      expect.objectContaining({ "helm.sh/hook": "test" }),
    ]);
  });

  it("are left out where the cluster does not know their kind, and the deliverers keep their own autoscaler", async () => {
    const { kinds, of } = await render("observed", [], { has: [] });

    for (const api of addedKinds) expect(kinds).not.toContain(api.split("/").at(-1));
    expect(of("HorizontalPodAutoscaler").map(({ metadata }) => metadata.name)).toContain(
      "posthaste-deliverer",
    );
  });

  it("have Prometheus read every pod with the token, under the name that alerts go by", () => {
    const [{ spec } = unexpected()] = observed.of("PodMonitor");

    for (const { spec: deployment } of observed.of("Deployment")) {
      expect(deployment.selector.matchLabels).toMatchObject(spec.selector.matchLabels);
      expect(deployment.template.spec.containers[0].ports.map(({ name }) => name)).toContain(
        spec.podMetricsEndpoints[0]?.port,
      );
    }
    expect(spec.podMetricsEndpoints[0]?.authorization).toEqual({
      credentials: { name: "metrics", key: "token" },
    });
    expect(spec.podMetricsEndpoints[0]?.relabelings).toEqual([
      {
        sourceLabels: ["__meta_kubernetes_pod_label_app_kubernetes_io_component"],
        targetLabel: "job",
        replacement: "posthaste-$1",
      },
      {
        sourceLabels: ["__meta_kubernetes_pod_label_app_kubernetes_io_instance"],
        targetLabel: "release",
      },
    ]);
  });

  it("bring the rules and the dashboards of the repository as they are, with links to the console that the values name", () => {
    const [rule = unexpected()] = observed.of("PrometheusRule");
    const [{ data } = unexpected()] = observed.of("ConfigMap");
    const folder = join(files, "dashboards");

    expect(rule.spec).toEqual(parse(readFileSync(join(files, "rules.yaml"), "utf8")));
    expect(Object.keys(data)).toEqual(readdirSync(folder));
    for (const [name, text] of Object.entries(data))
      expect(JSON.parse(text)).toEqual(
        JSON.parse(
          readFileSync(join(folder, name), "utf8").replace(
            "http://127.0.0.1:8080/console/",
            "https://mail.example.com/console/",
          ),
        ),
      );
  });

  it("let only KEDA size the deliverers, by the due messages of this release, without those held back by limits", () => {
    const [{ spec } = unexpected()] = observed.of("ScaledObject");
    const own = `namespace="${namespace}",release="posthaste"`;
    const deliverer = observed
      .of("Deployment")
      .find(({ metadata }) => metadata.name === "posthaste-deliverer");

    expect(spec).toMatchObject({
      scaleTargetRef: { name: "posthaste-deliverer" },
      minReplicaCount: 2,
      maxReplicaCount: 10,
    });
    expect(spec.triggers.map(({ metadata }) => metadata["query"]).slice(0, 2)).toEqual([
      `max(posthaste_oldest_past_due_seconds{${own}})`,
      `sum(posthaste_attempts_waiting{${own}})`,
    ]);
    expect(deliverer?.spec.replicas).toBeUndefined();
    expect(observed.of("HorizontalPodAutoscaler").map(({ metadata }) => metadata.name)).toEqual([
      "posthaste-gateway",
    ]);
  });

  it.each(["observed", "observability", "standalone"])(
    "are what the makers of their kinds take, with the values of %s",
    async (valueSet) => {
      const schemas = await loadCustomKinds();
      const { of } = await render(valueSet);

      const manifests = customKinds.flatMap((kind) => of(kind));
      expect(manifests).not.toEqual([]);
      for (const manifest of manifests) {
        const isTaken = schemas.get(manifest.kind);
        isTaken?.(manifest);
        expect({ [manifest.kind]: isTaken?.errors }).toEqual({ [manifest.kind]: null });
      }
    },
  );

  it("lead to the gateway's Service", () => {
    const [ingress] = observed.of("Ingress");
    const [route] = observed.of("HTTPRoute");

    expect(ingress?.spec.rules[0]?.http.paths[0]?.backend.service.name).toBe("posthaste-gateway");
    expect(route?.spec.rules[0]?.backendRefs).toEqual([{ name: "posthaste-gateway", port: 80 }]);
  });

  it("give a service the additions of its operator, and no other service", () => {
    const added = observed.of("Deployment").filter(({ spec }) => {
      const { containers, volumes } = spec.template.spec;
      const mounts = containers[0].volumeMounts.some(({ name }) => name === "own-ca");
      return mounts && volumes.some(({ name }) => name === "own-ca");
    });

    expect(added.map(({ metadata }) => metadata.name)).toEqual(["posthaste-deliverer"]);
    expect(added[0]?.spec.template.spec.containers[0].env).toContainEqual({
      name: "NODE_EXTRA_CA_CERTS",
      value: "/etc/own-ca/ca.crt",
    });
  });
});

const unexpected = (): never => {
  throw new Error("it is not there");
};
