/** Tests what the chart adds for observability: the same as the Compose file, with the release's addresses. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it, jest } from "@jest/globals";
import { hasPrometheus, promtool } from "@posthaste/local";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { parse } from "yaml";
import { loadProject, type Project } from "../compose/project.ts";
import { root } from "../root.ts";
import { buildComposeCheck } from "../tools/compose-check.ts";
import { buildMsMax, describeWith } from "../tools/describe-with.ts";
import { buildHelm } from "../tools/helm.ts";
import { namespace, type NetworkPolicy, render, type Rendered } from "./manifests.ts";
import { environmentOf } from "./pod-environment.ts";
import { isReachedBy, type Place, reaches } from "./reach.ts";

jest.setTimeout(buildMsMax);

const observers = ["collector", "grafana", "prometheus", "tempo"];
const six = [
  "callback-dispatcher",
  "deliverer",
  "gateway",
  "management",
  "scheduler",
  "workflow-log",
];
const home = { "kubernetes.io/metadata.name": namespace };
const itWithPromtool = hasPrometheus() ? it : it.skip;
const notChecked = hasPrometheus() ? "" : " (not checked: this host has no promtool)";
const composed = (file: string): string =>
  readFileSync(join(root, "helm/posthaste/files/compose", file), "utf8");

describeWith(["go"], "what the chart brings to look at the services", () => {
  const folder = temporaryFolder();
  let rendered: Rendered;
  let compose: Project;
  let policies: readonly NetworkPolicy[];

  beforeAll(async () => {
    await buildHelm();
    await buildComposeCheck();
    rendered = await render("observability");
    compose = await loadProject(["observability"]);
    policies = rendered.of("NetworkPolicy");
  });

  const named = <One extends { readonly metadata: { readonly name: string } }>(
    all: readonly One[],
    name: string,
  ): One => {
    const found = all.find(({ metadata }) => metadata.name === `mail-${name}`);
    if (!found) throw new Error(`no ${name}`);
    return found;
  };
  const fileOf = (observer: string, file: string): unknown =>
    parse(named(rendered.of("ConfigMap"), observer).data[file] ?? "");
  const podOf = (component: string) =>
    named(rendered.of("Deployment"), component).spec.template.metadata.labels;
  const placeOf = (component: string): Place => ({
    ...{ address: "10.1.2.3", pod: podOf(component), namespace: home },
  });
  /** Reports whether the policies of both sides allow the call. */
  const canCall = (from: string, to: string, portName: string): boolean => {
    const { ports } = named(rendered.of("Deployment"), to).spec.template.spec.containers[0];
    const port = ports.find(({ name }) => name === portName)?.containerPort ?? 0;
    return (
      reaches(policies, podOf(from), placeOf(to), { protocol: "TCP", port }, home) &&
      isReachedBy(policies, podOf(to), placeOf(from), portName, home)
    );
  };

  it("is off by default", async () => {
    const { of } = await render("minimal");

    const names = of("Deployment").map(({ metadata }) => metadata.name);
    expect(names.filter((name) => observers.some((one) => name.endsWith(one)))).toEqual([]);
  });

  it.each(observers)(
    "runs the image of %s that the Compose file runs, with the same words",
    (name) => {
      const [container] = named(rendered.of("Deployment"), name).spec.template.spec.containers;
      const { image, command } = compose.services[name] ?? { image: "" };

      expect(container.image).toBe(image);
      expect(container.args).toEqual(command ?? []);
      for (const { target } of compose.services[name]?.volumes ?? [])
        expect(
          container.volumeMounts.filter(
            ({ mountPath }) => mountPath === target || target.startsWith(`${mountPath}/`),
          ),
        ).not.toEqual([]);
    },
  );

  it("lets each do nothing but its work", () => {
    for (const name of observers) {
      const pod = named(rendered.of("Deployment"), name).spec.template.spec;
      expect(pod).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
      expect(pod.securityContext).toMatchObject({ runAsNonRoot: true });
      expect(pod.containers[0].securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
      expect(pod.containers[0].resources.limits["memory"]).toBeDefined();
    }
  });

  it("has Prometheus find each process of each service, read it with the token, and label it with its release", () => {
    const { scrape_configs, ...rest } = fileOf("prometheus", "prometheus.yaml") as Scraping;
    const { scrape_configs: _, ...composedRest } = parse(composed("prometheus.yaml")) as Scraping;
    const labels = [
      { target_label: "namespace", replacement: namespace },
      { target_label: "release", replacement: "posthaste" },
    ];

    expect(rest).toEqual(composedRest);
    expect(scrape_configs).toEqual(
      six.map((name) => ({
        job_name: `posthaste-${name}`,
        dns_sd_configs: [{ names: [`mail-${name}-pods`], type: "A", port: 9464 }],
        relabel_configs: labels,
        authorization: { credentials_file: "/run/secrets/metrics/token" },
      })),
    );
    const pod = named(rendered.of("Deployment"), "prometheus").spec.template.spec;
    const mounted = pod.containers[0].volumeMounts.find(({ name }) => name === "metrics-token");
    expect(mounted).toMatchObject({ mountPath: "/run/secrets/metrics", readOnly: true });
    expect(pod.volumes.find(({ name }) => name === "metrics-token")).toMatchObject({
      secret: { secretName: "metrics", items: [{ key: "token", path: "token" }] },
    });
    for (const name of six) {
      const { spec } = named(rendered.of("Service"), `${name}-pods`);
      expect(spec).toMatchObject({ clusterIP: "None", ports: [{ targetPort: "metrics" }] });
      expect(podOf(name)).toMatchObject(spec.selector);
    }
  });

  itWithPromtool(
    `has a configuration that is one to Prometheus${notChecked}`,
    async () => {
      const file = join(folder, "prometheus.yaml");
      writeFileSync(
        file,
        named(rendered.of("ConfigMap"), "prometheus").data["prometheus.yaml"] ?? "",
      );

      const said = await promtool(["check", "config", "--syntax-only", file]);

      expect(said).toContain("SUCCESS");
    },
    buildMsMax,
  );

  it("has the rules and the configuration of the Compose file, with the addresses of its Services", () => {
    const withHost = (text: string, name: string) =>
      parse(text.replaceAll(new RegExp(`(?<=[ /])${name}:`, "g"), `mail-${name}:`)) as unknown;

    expect(fileOf("prometheus", "rules.yaml")).toEqual(
      parse(readFileSync(join(root, "helm/posthaste/files/rules.yaml"), "utf8")),
    );
    expect(fileOf("collector", "collector.yaml")).toEqual(
      withHost(composed("collector.yaml"), "tempo"),
    );
    expect(fileOf("tempo", "tempo.yaml")).toEqual(parse(composed("tempo.yaml")));
    expect(fileOf("grafana", "dashboards.yaml")).toEqual(parse(composed("dashboards.yaml")));
    const { datasources } = fileOf("grafana", "datasources.yaml") as Sources;
    expect(datasources.map(({ url }) => url)).toEqual([
      "http://mail-prometheus:9090",
      "http://mail-tempo:3200",
    ]);
    for (const [name, port] of [
      ["prometheus", 9090],
      ["tempo", 3200],
      ["tempo", 4317],
      ["collector", 4318],
    ] as const)
      expect(named(rendered.of("Service"), name).spec.ports.map((one) => one.port)).toContain(port);
  });

  it("has each service send its traces to the collector, and KEDA query that Prometheus", () => {
    for (const name of six)
      expect(environmentOf(named(rendered.of("Deployment"), name))).toMatchObject({
        POSTHASTE_OTLP_ENDPOINT: "http://mail-collector:4318",
        POSTHASTE_TRACE_RATIO: "1",
      });
    const [scaled] = rendered.of("ScaledObject");
    for (const { metadata } of scaled?.spec.triggers.slice(0, 2) ?? [])
      expect(metadata["serverAddress"]).toBe(`http://mail-prometheus.${namespace}:9090`);
  });

  it("lets each reach its sources, and no other pod reach it", () => {
    const calls = [
      ...six.map((name) => ["prometheus", name, "metrics"]),
      ...six.map((name) => [name, "collector", "otlp-http"]),
      ["collector", "tempo", "otlp-grpc"],
      ["grafana", "prometheus", "http"],
      ["grafana", "tempo", "http"],
    ].map((call) => call.join(" "));
    const all = [...six, ...observers];
    const possible = all.flatMap((from) =>
      all.flatMap((to) =>
        named(rendered.of("Deployment"), to)
          .spec.template.spec.containers[0].ports.map(({ name }) => [from, to, name] as const)
          .filter(([, service, port]) => port !== "http" || observers.includes(service)),
      ),
    );

    const allowed = possible
      .filter(([from, to, port]) => from !== to && canCall(from, to, port))
      .map((call) => call.join(" "));
    expect(allowed.toSorted()).toEqual(calls.toSorted());
  });

  it("has nothing of it reach out of the cluster", () => {
    const outside = { address: "93.184.216.34" };
    for (const name of observers)
      for (const port of [53, 80, 443])
        expect(reaches(policies, podOf(name), outside, { protocol: "TCP", port }, home)).toBe(
          false,
        );
  });
});

type Scraping = { readonly scrape_configs: readonly unknown[] };
type Sources = { readonly datasources: readonly { readonly url: string }[] };
