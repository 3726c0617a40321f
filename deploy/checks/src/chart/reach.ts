/**
 * Decides which connections NetworkPolicies allow, by Kubernetes' definition: policies only allow, several add up,
 * and a direction that no policy selects is open. Selectors may use matchLabels only, as the chart does.
 */
import { BlockList, isIPv6 } from "node:net";
import { type NetworkPolicy, type Peer, type Ports } from "./manifests.ts";

type Labels = Readonly<Record<string, string>>;

/** A pod, or an address outside the cluster when it has no labels. */
export type Place = {
  readonly address: string;
  readonly pod?: Labels;
  readonly namespace?: Labels;
};
export type Call = { readonly protocol: "TCP" | "UDP"; readonly port: number };

/** Reports whether a pod with these labels may call `place`. `home`: the labels of the policies' own namespace. */
export function reaches(
  policies: readonly NetworkPolicy[],
  pod: Labels,
  place: Place,
  call: Call,
  home: Labels,
): boolean {
  const own = policies.filter((policy) => selects(policy, pod, "Egress"));
  return (
    own.length === 0 ||
    own.some(({ spec }) =>
      spec.egress.some(({ to, ports }) => isThere(to, place, home) && hasPort(ports, call)),
    )
  );
}

/** Reports whether `place` may call the named port of a pod with these labels. */
export function isReachedBy(
  policies: readonly NetworkPolicy[],
  pod: Labels,
  place: Place,
  portName: string,
  home: Labels,
): boolean {
  const own = policies.filter((policy) => selects(policy, pod, "Ingress"));
  return (
    own.length === 0 ||
    own.some(({ spec }) =>
      (spec.ingress ?? []).some(
        ({ from, ports }) =>
          isThere(from, place, home) && ports.some(({ port }) => port === portName),
      ),
    )
  );
}

const selects = ({ spec }: NetworkPolicy, pod: Labels, direction: string): boolean =>
  spec.policyTypes.includes(direction) && matches(spec.podSelector.matchLabels, pod);

const matches = (wanted: Labels | undefined, labels: Labels): boolean =>
  Object.entries(wanted ?? {}).every(([name, value]) => labels[name] === value);

/** Reports whether `place` is among the peers. No peers mean all. */
const isThere = (peers: readonly Peer[] | undefined, place: Place, home: Labels): boolean =>
  peers === undefined || peers.length === 0 || peers.some((peer) => isPeer(peer, place, home));

function isPeer({ ipBlock, podSelector, namespaceSelector }: Peer, place: Place, home: Labels) {
  if (ipBlock)
    return (
      isInside(ipBlock.cidr, place.address) &&
      !(ipBlock.except ?? []).some((cidr) => isInside(cidr, place.address))
    );
  if (!place.pod || !place.namespace) return false;
  const inNamespace = namespaceSelector
    ? matches(namespaceSelector.matchLabels, place.namespace)
    : matches(home, place.namespace);
  return inNamespace && matches(podSelector?.matchLabels, place.pod);
}

function isInside(range: string, address: string): boolean {
  const [network = "", prefix] = range.split("/");
  const block = new BlockList();
  block.addSubnet(network, Number(prefix), family(network));
  return block.check(address, family(address));
}

const family = (address: string): "ipv4" | "ipv6" => (isIPv6(address) ? "ipv6" : "ipv4");

const hasPort = (ports: Ports, call: Call): boolean =>
  ports.some(
    ({ protocol, port }) =>
      protocol === call.protocol && (port === undefined || port === call.port),
  );
