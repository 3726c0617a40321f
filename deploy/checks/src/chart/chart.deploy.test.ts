import { beforeAll, describe, expect, it, jest } from "@jest/globals";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ServiceName } from "@posthaste/process";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { openSecrets, problemsOf } from "../environment.ts";
import { buildMsMax, describeWith } from "../tools/describe-with.ts";
import { buildHelm, runHelm } from "../tools/helm.ts";
import {
  installKubernetesValidate,
  kubernetesVersion,
  runKubernetesValidate,
} from "../tools/kubernetes-validate.ts";
import {
  chart,
  render,
  type Rendered,
  type Service,
  valueSets,
  valuesFile,
  type Workload,
} from "./manifests.ts";
import { environmentOf, filesOf, serviceOf } from "./pod-environment.ts";

jest.setTimeout(buildMsMax);

const six = [
  "callback-dispatcher",
  "deliverer",
  "gateway",
  "management",
  "scheduler",
  "workflow-log",
] as const satisfies readonly ServiceName[];
/** Reports whether the Service leads to one of Posthaste's services, and not to a program that observes them. */
const leadsToService = ({ spec }: Service): boolean =>
  [...six, "standalone"].includes(spec.selector["app.kubernetes.io/component"] ?? "");
const servicesOf = (valueSet: string): readonly ServiceName[] =>
  valueSet === "standalone" ? ["standalone"] : six;

describeWith(["go", "python3"], "the chart", () => {
  const rendered = new Map<string, Rendered>();
  const renderedOf = (valueSet: string): Rendered => {
    const found = rendered.get(valueSet);
    if (found === undefined) throw new Error(`${valueSet} could not be rendered`);
    return found;
  };
  const workloadsOf = (valueSet: string): readonly Workload[] => {
    const { of } = renderedOf(valueSet);
    const isOwn = (workload: Workload) =>
      servicesOf(valueSet).some((name) => name === serviceOf(workload));
    return [...of("Deployment"), ...of("StatefulSet")].filter(isOwn);
  };
  const folder = temporaryFolder();

  beforeAll(async () => {
    await buildHelm();
    await installKubernetesValidate();
    for (const valueSet of valueSets) rendered.set(valueSet, await render(valueSet));
  });

  describe.each(valueSets)("with the values of %s", (valueSet) => {
    it("passes helm lint --strict", async () => {
      const args = ["--strict", "--kube-version", kubernetesVersion, "--values"];

      const { code, stdout, stderr } = await runHelm([
        "lint",
        chart,
        ...args,
        valuesFile(valueSet),
      ]);

      expect(`${stdout}${stderr}`).toContain("1 chart(s) linted, 0 chart(s) failed");
      expect(code).toBe(0);
    });

    it("makes manifests that Kubernetes takes", async () => {
      const file = join(folder, `${valueSet}.yaml`);
      writeFileSync(file, renderedOf(valueSet).text);

      const { code, stdout, stderr } = await runKubernetesValidate([file]);

      expect(`${stdout}${stderr}`.split("\n").filter((line) => !line.startsWith("INFO"))).toEqual([
        "",
      ]);
      expect(code).toBe(0);
    });

    it("has pods of each service, and Services that find them", () => {
      const all = renderedOf(valueSet).of("Service").filter(leadsToService);
      const selectors = workloadsOf(valueSet).map(({ spec }) => spec.selector.matchLabels);

      expect(workloadsOf(valueSet).map(serviceOf)).toEqual(servicesOf(valueSet));
      for (const { spec } of all) expect(selectors).toContainEqual(spec.selector);
      for (const selector of selectors)
        expect(all.map(({ spec }) => spec.selector)).toContainEqual(selector);
      for (const { spec } of workloadsOf(valueSet))
        expect(spec.template.metadata.labels).toMatchObject(spec.selector.matchLabels);
    });

    it.each(servicesOf(valueSet))(
      "gives %s variables that it reads, with values that it takes",
      (service) => {
        const deployment = workloadsOf(valueSet).find((one) => serviceOf(one) === service);
        if (!deployment) throw new Error(`no ${service}`);
        const env = environmentOf(deployment);
        const files = filesOf(deployment, renderedOf(valueSet).of("Secret"));

        expect(problemsOf(service, env, files)).toEqual([]);
        expect(openSecrets(service, env)).toEqual([]);
        expect(deployment.spec.template.spec.containers[0].args).toEqual([
          `services/${service}/process/main.ts`,
        ]);
      },
    );

    it("mounts no secret that its service does not read", () => {
      for (const deployment of workloadsOf(valueSet)) {
        const named = Object.values(environmentOf(deployment));
        const mounted = Object.keys(filesOf(deployment, renderedOf(valueSet).of("Secret")));
        expect(mounted.filter((path) => !named.includes(path))).toEqual([]);
      }
    });

    it("probes each service at its port, and its Services use the same port", () => {
      for (const deployment of workloadsOf(valueSet)) {
        const [container] = deployment.spec.template.spec.containers;
        const opened = container.ports.map(({ name }) => name);
        for (const { spec } of renderedOf(valueSet).of("Service"))
          if (spec.selector["app.kubernetes.io/component"] === serviceOf(deployment))
            for (const { targetPort } of spec.ports) expect(opened).toContain(targetPort);
        const port = Number(environmentOf(deployment)["POSTHASTE_PORT"]);
        expect(container.ports[0]).toEqual({ name: "http", containerPort: port });
        const probe = (path: string) => ({ httpGet: { path, port: "http" } });
        expect(container.startupProbe).toMatchObject(probe("/healthz"));
        expect(container.livenessProbe).toMatchObject(probe("/healthz"));
        expect(container.readinessProbe).toMatchObject(probe("/readyz"));
      }
    });

    it("gives a stopping pod longer than its drain, and five seconds to end in", () => {
      for (const deployment of workloadsOf(valueSet)) {
        const { terminationGracePeriodSeconds, containers } = deployment.spec.template.spec;
        const preStop = containers[0].lifecycle?.preStop.sleep.seconds ?? 0;
        const drain = Number(environmentOf(deployment)["POSTHASTE_DRAIN_SECONDS"]);
        expect(terminationGracePeriodSeconds).toBeGreaterThan(preStop + drain + 5);
      }
    });

    it("lets a pod do nothing but its work: no root, no writing, no rights, no token, bounded memory", () => {
      for (const { spec } of workloadsOf(valueSet)) {
        const pod = spec.template.spec;
        expect(pod).toMatchObject({
          automountServiceAccountToken: false,
          enableServiceLinks: false,
        });
        expect(pod.securityContext).toMatchObject({
          runAsNonRoot: true,
          runAsUser: 10_001,
          seccompProfile: { type: "RuntimeDefault" },
        });
        expect(pod.containers[0].securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        });
        expect(pod.containers[0].resources).toMatchObject({
          requests: { cpu: expect.anything(), memory: expect.anything() },
          limits: { memory: expect.anything() },
        });
      }
    });

    it("has helm test request the gateway, at the port of its Service", () => {
      const { of } = renderedOf(valueSet);
      const script = of("Pod")[0]?.spec.containers[0].args.at(-1) ?? "";
      const [, host, port] = /"http:\/\/([a-z-]+):(\d+)\/readyz"/.exec(script) ?? [];
      const asked = of("Service").find(({ metadata }) => metadata.name === host);

      expect(asked?.spec.selector["app.kubernetes.io/component"]).toMatch(/^(gateway|standalone)$/);
      expect(asked?.spec.ports[0]).toMatchObject({ port: Number(port), targetPort: "http" });
    });

    it("has autoscalers only of Deployments that leave their size to them", () => {
      const { of } = renderedOf(valueSet);
      const scaled = [...of("HorizontalPodAutoscaler"), ...of("ScaledObject")].map(
        ({ spec }) => spec.scaleTargetRef.name,
      );
      const unsized = workloadsOf(valueSet).filter(({ spec }) => spec.replicas === undefined);

      expect(scaled.sort()).toEqual(unsized.map(({ metadata }) => metadata.name).sort());
    });
  });

  it("by default scales gateway and deliverer, and has a disruption budget for each service", () => {
    const { of } = renderedOf("minimal");

    expect(of("HorizontalPodAutoscaler").map(({ metadata }) => metadata.name)).toEqual([
      "posthaste-deliverer",
      "posthaste-gateway",
    ]);
    expect(of("PodDisruptionBudget").map(({ spec }) => spec)).toEqual(
      of("Deployment").map(({ spec }) => ({ maxUnavailable: 1, selector: spec.selector })),
    );
    expect(renderedOf("small").of("PodDisruptionBudget")).toEqual([]);
  });

  it("opens a port for metrics where a process serves them, and none otherwise", () => {
    const opened = (valueSet: string) =>
      workloadsOf(valueSet).flatMap(({ spec }) => spec.template.spec.containers[0].ports.slice(1));
    const served = (valueSet: string) =>
      renderedOf(valueSet)
        .of("Service")
        .flatMap(({ spec }) => spec.ports.slice(1));

    expect(opened("production")).toEqual(six.map(() => ({ name: "metrics", containerPort: 9464 })));
    expect(served("production").map(({ targetPort }) => targetPort)).toEqual(
      six.map(() => "metrics"),
    );
    for (const deployment of workloadsOf("production"))
      expect(environmentOf(deployment)["POSTHASTE_METRICS_PORT"]).toBe("9464");
    expect([...opened("minimal"), ...served("minimal")]).toEqual([]);
  });

  it("keeps the store of a standalone on a volume that it claims once, and runs one pod", () => {
    const [{ spec } = none()] = renderedOf("standalone").of("StatefulSet");
    const [container] = spec.template.spec.containers;
    const [claim] = spec.volumeClaimTemplates;
    const mounted = container.volumeMounts.find(({ name }) => name === claim?.metadata.name);
    const env = environmentOf(renderedOf("standalone").of("StatefulSet")[0] ?? none());

    expect(spec.replicas).toBe(1);
    expect(
      renderedOf("standalone")
        .of("Service")
        .map(({ metadata }) => metadata.name),
    ).toContain(spec.serviceName);
    expect(mounted?.mountPath).toBe(env["POSTHASTE_DATA_DIR"]);
    expect(claim?.spec.resources.requests["storage"]).toBe("50Gi");
    expect(env["POSTHASTE_PORT"]).toBe("8080");
    expect(container.ports.map(({ containerPort }) => containerPort)).toEqual([8080, 8082, 9464]);
  });

  it("leads from outside to the API of a standalone, and not to its management", () => {
    const reachable = renderedOf("standalone")
      .of("Service")
      .filter(({ spec }) => spec.type !== "ClusterIP");

    expect(reachable.flatMap(({ spec }) => spec.ports.map(({ targetPort }) => targetPort))).toEqual(
      ["http", "metrics"],
    );
  });

  it("has names of Services that Kubernetes takes, however long the release's is", async () => {
    const { of } = await render("observability", [`fullnameOverride=${"n".repeat(38)}`]);

    for (const { metadata } of of("Service"))
      expect(metadata.name).toMatch(/^[a-z]([a-z-]{0,61}[a-z])$/);
  });
});

const none = (): never => {
  throw new Error("it is not there");
};
