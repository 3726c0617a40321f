import { beforeAll, expect, it, jest } from "@jest/globals";
import { buildMsMax, describeWith } from "../tools/describe-with.ts";
import { buildHelm } from "../tools/helm.ts";
import { render, type Rendered } from "./manifests.ts";
import { serviceOf } from "./pod-environment.ts";

jest.setTimeout(buildMsMax);

const podOf = ({ of }: Rendered, service: string) => {
  const found = of("Deployment").find((deployment) => serviceOf(deployment) === service);
  if (!found) throw new Error(`no ${service}`);
  return { ...found.spec.template.spec, annotations: found.metadata.annotations };
};

describeWith(["go"], "the chart's pods", () => {
  beforeAll(buildHelm);

  it("are spread over zones and over nodes", async () => {
    const { of } = await render("minimal");

    for (const { spec } of of("Deployment"))
      expect(spec.template.spec.topologySpreadConstraints).toEqual(
        ["topology.kubernetes.io/zone", "kubernetes.io/hostname"].map((topologyKey) => ({
          ...{ topologyKey, maxSkew: 1, whenUnsatisfiable: "ScheduleAnyway" },
          labelSelector: { matchLabels: spec.selector.matchLabels },
        })),
      );
  });

  it("run as the user that OpenShift gives to the namespace, also those of helm test and of the monitoring", async () => {
    const unset = ["runAsUser", "runAsGroup", "fsGroup"];
    const observers = ["prometheus", "collector", "tempo", "grafana"];
    const places = ["pods", ...observers.map((name) => `observability.${name}`)];
    const settings = places.flatMap((place) =>
      unset.map((field) => `${place}.securityContext.${field}=null`),
    );

    const { of } = await render("observability", settings);

    const pods = [
      ...of("Deployment").map(({ spec }) => spec.template.spec),
      ...of("Pod").map(({ spec }) => spec),
    ];
    expect(pods.length).toBeGreaterThan(10);
    for (const { securityContext } of pods)
      expect(securityContext).toEqual({
        runAsNonRoot: true,
        seccompProfile: { type: "RuntimeDefault" },
      });
  });

  it("of one service have its own values laid over the common ones, also null, false and numbers of ten digits", async () => {
    const own = {
      nodeSelector: { pool: "edge" },
      tolerations: [],
      annotations: { role: "front" },
      workloadAnnotations: { "reloader.stakater.com/auto": "true" },
      priorityClassName: "",
      topologySpread: [],
      securityContext: { runAsUser: 1_000_650_000, fsGroup: null },
      containerSecurityContext: { readOnlyRootFilesystem: false },
      probes: { liveness: { failureThreshold: 30 } },
    };

    const rendered = await render("production", [`services.gateway.pods=${JSON.stringify(own)}`]);

    const [gateway, other] = [podOf(rendered, "gateway"), podOf(rendered, "scheduler")];
    expect(gateway).toMatchObject({
      annotations: own.workloadAnnotations,
      nodeSelector: { "kubernetes.io/os": "linux", pool: "edge" },
      securityContext: { runAsNonRoot: true, runAsUser: 1_000_650_000, runAsGroup: 10_001 },
    });
    for (const field of ["tolerations", "priorityClassName", "topologySpreadConstraints"]) {
      expect(gateway).not.toHaveProperty(field);
      expect(other).toHaveProperty(field);
    }
    expect(gateway.securityContext).not.toHaveProperty("fsGroup");
    expect(gateway.containers[0]).toMatchObject({
      securityContext: { readOnlyRootFilesystem: false, allowPrivilegeEscalation: false },
      livenessProbe: { periodSeconds: 10, failureThreshold: 30 },
    });
    expect(other).toMatchObject({
      nodeSelector: { "kubernetes.io/os": "linux" },
      securityContext: { runAsUser: 10_001, fsGroup: 10_001 },
    });
    expect(other.containers[0].livenessProbe).toMatchObject({ failureThreshold: 6 });
    expect(other.annotations).toBeUndefined();
  });

  it.each([
    ["unless it is named", [], ["posthaste"]],
    ["and not where it is named", ["serviceAccount.name=theirs"], []],
    [
      "named, where it is asked for",
      ["serviceAccount.name=own", "serviceAccount.create=true"],
      ["own"],
    ],
    ["nor where it is not wanted", ["serviceAccount.create=false"], []],
  ] as const)("have a ServiceAccount made, %s", async (_, settings, made) => {
    const { of } = await render("minimal", settings);

    expect(of("ServiceAccount").map(({ metadata }) => metadata.name)).toEqual(made);
  });

  it("have manifests of the operator's beside them, with their templates filled in", async () => {
    const object = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "{{ .Release.Name }}-x" },
    };
    const text = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: {{ .Release.Name }}-y }\n";

    const { of } = await render("minimal", [`extraObjects=${JSON.stringify([object, text])}`]);

    expect(of("ConfigMap").map(({ metadata }) => metadata.name)).toEqual([
      "posthaste-x",
      "posthaste-y",
    ]);
  });
});
