import { beforeAll, describe, expect, it } from "@jest/globals";
import { classify, parseAddress } from "@posthaste/domain";
import { buildMsMax, describeWith } from "../tools/describe-with.ts";
import { buildHelm } from "../tools/helm.ts";
import { namespace, type NetworkPolicy, render } from "./manifests.ts";
import { isReachedBy, type Place, reaches } from "./reach.ts";

const namespaceCalled = (name: string) => ({ "kubernetes.io/metadata.name": name });
const home = namespaceCalled(namespace);
const workers = ["callback-dispatcher", "scheduler", "workflow-log"];
const quiet = [...workers, "gateway", "management"];
const all = [...quiet, "deliverer"];

const outside = (address: string): Place => ({ address });
const podIn = (name: string, pod = {}): Place => ({
  address: "10.1.2.3",
  pod,
  namespace: namespaceCalled(name),
});

/** Returns addresses of every kind: one in each /12 of IPv4, and both sides of every edge in the chart's blocks. */
const probes = (policies: readonly NetworkPolicy[]): readonly string[] => {
  const spread = Array.from({ length: 4_096 }, (_, index) => dotted(index * 2 ** 20 + 12_345));
  const blocks = policies.flatMap(({ spec }) =>
    spec.egress.flatMap(({ to = [] }) => to.flatMap(({ ipBlock }) => ipBlock ?? [])),
  );
  const edges = blocks
    .flatMap(({ cidr, except = [] }) => [cidr, ...except])
    .filter((cidr) => !cidr.includes(":"))
    .flatMap(edgesOf);
  return [...new Set([...spread, ...edges, ...special])];
};

const special = [
  ["169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "127.0.0.1", "0.0.0.0"],
  ["10.0.0.1", "172.31.255.255", "192.168.1.1", "255.255.255.255", "93.184.216.34", "1.1.1.1"],
  ["::", "::1", "fe80::1", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1", "64:ff9b::a00:1"],
  ["2001::1", "2001:1ff::1", "2001:200::1", "2001:db8::1", "2001:db9::1", "2002:a00:1::"],
  ["2003::1", "2620:4f:8000::1", "2620:4f:8001::1", "3fff::1", "3fff:1000::1", "4000::1"],
  ["1fff::1", "2606:2800:220:1::1", "2a00:1450::1"],
].flat();

function edgesOf(cidr: string): readonly string[] {
  const [network = "", prefix] = cidr.split("/");
  const first = network.split(".").reduce((word, octet) => word * 256 + Number(octet), 0);
  const last = first + 2 ** (32 - Number(prefix)) - 1;
  return [first - 1, first, last, last + 1]
    .filter((word) => word >= 0 && word < 2 ** 32)
    .map(dotted);
}

const dotted = (word: number): string =>
  [24, 16, 8, 0].map((shift) => (word >>> shift) & 255).join(".");

const isPublic = (text: string): boolean => {
  const address = parseAddress(text);
  return address !== undefined && classify(address) === "public";
};

describeWith(["go"], "the chart's network policies", () => {
  const policies = new Map<string, readonly NetworkPolicy[]>();
  const labels = new Map<string, Readonly<Record<string, string>>>();
  /** The labels of the pod of `helm test`. */
  const tests = new Map<string, Readonly<Record<string, string>>>();

  beforeAll(async () => {
    await buildHelm();
    for (const valueSet of ["minimal", "production", "external-stores", "observed", "standalone"]) {
      const { of } = await render(valueSet);
      policies.set(valueSet, of("NetworkPolicy"));
      tests.set(valueSet, of("Pod")[0]?.metadata.labels ?? {});
      for (const { metadata, spec } of [...of("Deployment"), ...of("StatefulSet")]) {
        const service = metadata.labels?.["app.kubernetes.io/component"] ?? "";
        labels.set(`${valueSet} ${service}`, spec.template.metadata.labels);
      }
    }
  }, buildMsMax);

  const podOf = (valueSet: string, service: string) => {
    const found = labels.get(`${valueSet} ${service}`);
    if (!found) throw new Error(`no ${service} in ${valueSet}`);
    return found;
  };
  const canReach = (valueSet: string, service: string, place: Place, port: number) =>
    reaches(
      policies.get(valueSet) ?? [],
      podOf(valueSet, service),
      place,
      { protocol: "TCP", port },
      home,
    );
  const isOpenTo = (valueSet: string, service: string, place: Place, port = "http") =>
    isReachedBy(policies.get(valueSet) ?? [], podOf(valueSet, service), place, port, home);

  it("let the deliverer out to exactly the addresses that the product calls public", () => {
    const own = policies.get("minimal") ?? [];
    const wrong = probes(own).filter(
      (address) => canReach("minimal", "deliverer", outside(address), 443) !== isPublic(address),
    );

    expect(wrong).toEqual([]);
  });

  // Callbacks are messages, so the deliverer delivers them.
  it.each(quiet)("let %s out to no address outside the cluster", (service) => {
    const own = policies.get("minimal") ?? [];
    const reached = probes(own).filter((address) =>
      [53, 80, 443, 6379, 9092, 27_017].some((port) =>
        canReach("minimal", service, outside(address), port),
      ),
    );

    expect(reached).toEqual([]);
  });

  it("let the deliverer out to the private networks that deliveries may go to, and the others not", () => {
    const reached = (service: string, address: string) =>
      canReach("external-stores", service, outside(address), 443);

    const allowed = ["10.40.9.9", "10.41.7.9", "fd00:40::1", "fd00:41::9"];
    expect(allowed.map((address) => reached("deliverer", address))).toEqual(
      allowed.map(() => true),
    );
    const others = ["10.41.7.8", "10.42.0.1", "fd00:41::8", "169.254.169.254"];
    expect(others.map((address) => reached("deliverer", address))).toEqual(others.map(() => false));
    expect(quiet.filter((service) => reached(service, "10.40.9.9"))).toEqual([]);
  });

  describe("let a service reach the stores, the collector and the provider that it uses, on their ports, and no other", () => {
    const onTheBus = all.filter((service) => service !== "management");
    const withTokens = ["deliverer", "gateway", "scheduler"];
    it.each([
      ["minimal", podIn("anywhere"), 9092, onTheBus],
      ["minimal", podIn("anywhere"), 6379, withTokens],
      ["minimal", podIn("anywhere"), 27_017, all],
      ["minimal", podIn("anywhere"), 443, []],
      ["minimal", outside("93.184.216.34"), 443, ["deliverer"]],
      // The OpenID provider for signing in.
      ["production", outside("93.184.216.34"), 443, ["deliverer", "gateway", "management"]],
      ["production", outside("93.184.216.34"), 80, ["deliverer"]],
      ["production", podIn("kafka"), 9093, onTheBus],
      ["production", podIn("kafka"), 9092, []],
      ["production", podIn("mongodb"), 9093, []],
      ["production", podIn("redis"), 6380, withTokens],
      ["production", podIn("mongodb"), 27_017, all],
      ["production", podIn("monitoring"), 4318, all],
      ["production", podIn("monitoring"), 9464, []],
      ["minimal", podIn("monitoring"), 4318, []],
      // The provider of Kafka's tokens.
      ["observed", outside("93.184.216.34"), 9443, onTheBus],
      ["external-stores", outside("10.9.0.11"), 9094, onTheBus],
      ["external-stores", outside("10.9.0.12"), 9095, onTheBus],
      ["external-stores", outside("10.9.1.10"), 6390, withTokens],
      // The servers that the sentinels name.
      ["external-stores", outside("10.9.1.10"), 6379, withTokens],
      ["external-stores", outside("10.9.1.11"), 6390, []],
      ["external-stores", outside("10.9.2.7"), 27_018, all],
    ])("%s: %j, port %i", (valueSet, place, port, users) => {
      const reaching = all.filter((service) => canReach(valueSet, service, place, port));

      expect(reaching.sort()).toEqual([...users].sort());
    });
  });

  it("let every service resolve names", () => {
    const dns = podIn("kube-system", { "k8s-app": "kube-dns" });

    expect(all.filter((service) => !canReach("minimal", service, dns, 53))).toEqual([]);
    expect(
      all.filter(
        (service) => !canReach("external-stores", service, outside("169.254.20.10"), 5353),
      ),
    ).toEqual([]);
  });

  it("let everybody call the gateway unless callers are named, the namespace call management, and nobody the workers", () => {
    const [stranger, neighbour] = [podIn("elsewhere"), podIn(namespace)];

    expect(isOpenTo("minimal", "gateway", outside("1.1.1.1"))).toBe(true);
    expect(isOpenTo("production", "gateway", stranger)).toBe(false);
    expect(isOpenTo("production", "gateway", podIn("ingress"))).toBe(true);
    expect(isOpenTo("minimal", "management", stranger)).toBe(false);
    expect(isOpenTo("minimal", "management", neighbour)).toBe(true);
    expect(isOpenTo("production", "management", podIn("operators"))).toBe(true);
    expect(
      [...workers, "deliverer"].filter((worker) => isOpenTo("minimal", worker, neighbour)),
    ).toEqual([]);
  });

  it("let the named peers read the metrics of every service, and nobody while metrics are off", () => {
    const monitoring = podIn("monitoring");
    const read = (valueSet: string, place: Place) =>
      all.filter((service) => isOpenTo(valueSet, service, place, "metrics"));

    expect(read("production", monitoring)).toEqual(all);
    expect(read("production", podIn("elsewhere"))).toEqual([]);
    expect(read("minimal", monitoring)).toEqual([]);
  });

  it.each([
    ["minimal", "gateway"],
    ["production", "gateway"],
    ["standalone", "standalone"],
  ])("let helm test reach the gateway with the values of %s", (valueSet, service) => {
    const test = podIn(namespace, tests.get(valueSet));

    expect(isOpenTo(valueSet, service, test)).toBe(true);
  });

  it("let a standalone out to where the deliverer goes and to its collector, and to no store", () => {
    const own = policies.get("standalone") ?? [];
    const allowed = (address: string) => isPublic(address) || address.startsWith("10.40.");
    const wrong = probes(own).filter(
      (address) => canReach("standalone", "standalone", outside(address), 443) !== allowed(address),
    );

    expect(wrong).toEqual([]);
    expect(canReach("standalone", "standalone", podIn("monitoring"), 4318)).toBe(true);
    for (const port of [6379, 9092, 27_017])
      expect(canReach("standalone", "standalone", podIn("stores"), port)).toBe(false);
  });

  it("let the named peers call the API of a standalone, and the namespace its management API", () => {
    const open = (place: Place, port: string) => isOpenTo("standalone", "standalone", place, port);

    expect(open(podIn("ingress"), "http")).toBe(true);
    expect(open(podIn("elsewhere"), "http")).toBe(false);
    expect(open(podIn(namespace), "management")).toBe(true);
    expect(open(podIn("ingress"), "management")).toBe(false);
    expect(open(podIn("monitoring"), "metrics")).toBe(true);
  });
});
