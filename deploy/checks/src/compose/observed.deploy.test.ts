/** Tests the profile `observability`: what it starts beside the six services, and how the parts connect. */
import { beforeAll, expect, it } from "@jest/globals";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { root } from "../root.ts";
import { buildComposeCheck } from "../tools/compose-check.ts";
import { buildMsMax, describeWith } from "../tools/describe-with.ts";
import { type ComposeService, loadProject, type Project } from "./project.ts";

const six = [
  "gateway",
  "scheduler",
  "deliverer",
  "callback-dispatcher",
  "workflow-log",
  "management",
];
const observers = ["prometheus", "collector", "tempo", "grafana"];
const folder = "helm/posthaste/files/compose";

type Listener = { readonly endpoint: string };
type Protocols = { readonly otlp: { readonly protocols: Readonly<Record<string, Listener>> } };

const textOf = (file: string): string => readFileSync(join(root, folder, file), "utf8");
const collector = parse(textOf("collector.yaml")) as {
  readonly receivers: Protocols;
  readonly exporters: { readonly otlp: Listener };
};
const tempo = parse(textOf("tempo.yaml")) as {
  readonly server: { readonly http_listen_port: number };
  readonly distributor: { readonly receivers: Protocols };
};
const prometheus = parse(textOf("prometheus.yaml")) as {
  readonly rule_files: readonly string[];
  readonly scrape_configs: readonly unknown[];
};
const portOf = (listener: Listener | undefined) => listener?.endpoint.split(":")[1];

describeWith(["go"], "the profile observability", () => {
  let project: Project;
  const service = (name: string): ComposeService => {
    const found = project.services[name];
    if (!found) throw new Error(`no service ${name}`);
    return found;
  };
  const mounted = (name: string) => (service(name).volumes ?? []).map(({ target }) => target);

  beforeAll(async () => {
    await buildComposeCheck();
    project = await loadProject(["observability"]);
  }, buildMsMax);

  it("has Prometheus scrape each process at its metrics port, under the job name that alerts use", () => {
    const jobs = six.map((name) => ({
      job_name: `posthaste-${name}`,
      dns_sd_configs: [
        {
          ...{ names: [name], type: "A" },
          port: Number(service(name).environment?.["POSTHASTE_METRICS_PORT"]),
        },
      ],
    }));

    expect(prometheus.scrape_configs).toEqual(jobs);
  });

  it("sends the traces of each service to the collector and from there to Tempo, and Grafana reads both of its sources", () => {
    const { datasources } = parse(textOf("datasources.yaml")) as {
      readonly datasources: readonly { readonly url: string }[];
    };
    const collects = portOf(collector.receivers.otlp.protocols["http"]);
    const keeps = portOf(tempo.distributor.receivers.otlp.protocols["grpc"]);

    for (const name of six)
      expect(service(name).environment).toMatchObject({
        POSTHASTE_OTLP_ENDPOINT: `http://collector:${collects}`,
        POSTHASTE_TRACE_RATIO: "1",
      });
    expect(collector.exporters.otlp.endpoint).toBe(`tempo:${keeps}`);
    expect(datasources.map(({ url }) => url)).toEqual([
      "http://prometheus:9090",
      `http://tempo:${tempo.server.http_listen_port}`,
    ]);
  });

  it.each([
    ...six.map((name) => [name, "collector"]),
    ...six.map((name) => ["prometheus", name]),
    ["collector", "tempo"],
    ["grafana", "prometheus"],
    ["grafana", "tempo"],
  ])("has a network on which %s reaches %s", (from = "", to = "") => {
    const networks = Object.keys(service(from).networks ?? {});

    expect(networks.filter((name) => name in (service(to).networks ?? {}))).not.toEqual([]);
  });

  it("mounts the files of its observers at the paths that they read, and their data on volumes", () => {
    const { providers } = parse(textOf("dashboards.yaml")) as {
      readonly providers: readonly { readonly options: { readonly path: string } }[];
    };
    const named = (name: string) =>
      (service(name).command ?? []).flatMap(
        (word) => /config(?:\.file)?=(.+)$/.exec(word)?.[1] ?? [],
      );

    for (const name of ["prometheus", "collector", "tempo"]) {
      expect(named(name)).toHaveLength(1);
      expect(mounted(name)).toEqual(expect.arrayContaining(named(name)));
    }
    expect(mounted("prometheus")).toEqual(expect.arrayContaining([...prometheus.rule_files]));
    expect(mounted("grafana")).toEqual(
      expect.arrayContaining(providers.map(({ options }) => options.path)),
    );
    expect(textOf("tempo.yaml").match(/path: \S+/g)).toEqual([
      "path: /var/tempo/wal",
      "path: /var/tempo/blocks",
    ]);
    expect(mounted("tempo")).toContain("/var/tempo");
    for (const name of observers)
      for (const { type, source } of service(name).volumes ?? [])
        if (type === "bind") expect(existsSync(source)).toBe(true);
  });

  it("opens Grafana to this machine alone", () => {
    for (const name of observers)
      for (const { host_ip } of service(name).ports ?? []) expect(host_ip).toBe("127.0.0.1");
  });
});
