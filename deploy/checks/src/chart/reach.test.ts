import { describe, expect, it } from "@jest/globals";
import { type NetworkPolicy, type Peer } from "./manifests.ts";
import { isReachedBy, type Place, reaches } from "./reach.ts";

const pod = { app: "a" };
const home = { team: "mail" };
const https = { protocol: "TCP", port: 443 } as const;
const outside = (address: string): Place => ({ address });
const neighbour: Place = { address: "10.0.0.9", pod: { app: "b" }, namespace: home };
const stranger: Place = { address: "10.0.0.8", pod: { app: "b" }, namespace: { team: "other" } };

function policy(to: readonly Peer[], ports = [{ protocol: "TCP", port: 443 }]): NetworkPolicy {
  return {
    kind: "NetworkPolicy",
    metadata: { name: "p" },
    spec: {
      podSelector: { matchLabels: pod },
      policyTypes: ["Egress"],
      ingress: [],
      egress: [{ to, ports }],
    },
  };
}

describe("a pod reaches", () => {
  it("everything, while no policy selects it", () => {
    const others = policy([{ podSelector: {} }]);

    expect(reaches([], pod, outside("8.8.8.8"), https, home)).toBe(true);
    expect(reaches([others], { app: "c" }, outside("8.8.8.8"), https, home)).toBe(true);
  });

  it("only the targets that a policy allows, by address, port and protocol", () => {
    const policies = [
      policy([{ ipBlock: { cidr: "8.8.0.0/16", except: ["8.8.4.0/24"] } }]),
      policy([{ ipBlock: { cidr: "2000::/3", except: ["2001:db8::/32"] } }]),
    ];
    const reached = (address: string, call: Parameters<typeof reaches>[3] = https) =>
      reaches(policies, pod, outside(address), call, home);

    expect([reached("8.8.8.8"), reached("2a00::1")]).toEqual([true, true]);
    expect([reached("8.8.4.4"), reached("9.9.9.9"), reached("2001:db8::1")]).toEqual([
      false,
      false,
      false,
    ]);
    expect(reached("8.8.8.8", { protocol: "TCP", port: 80 })).toBe(false);
    expect(reached("8.8.8.8", { protocol: "UDP", port: 443 })).toBe(false);
  });

  it("pods of its own namespace by their labels, and of others only where a namespace is named", () => {
    const here = [policy([{ podSelector: { matchLabels: { app: "b" } } }])];
    const everywhere = [policy([{ namespaceSelector: {} }])];
    const elsewhere = [policy([{ namespaceSelector: { matchLabels: { team: "other" } } }])];
    const reached = (policies: readonly NetworkPolicy[], place: Place) =>
      reaches(policies, pod, place, https, home);

    expect([reached(here, neighbour), reached(here, stranger)]).toEqual([true, false]);
    expect([reached(everywhere, neighbour), reached(everywhere, stranger)]).toEqual([true, true]);
    expect([reached(elsewhere, neighbour), reached(elsewhere, stranger)]).toEqual([false, true]);
    expect(reached(everywhere, outside("10.0.0.9"))).toBe(false);
  });
});

describe("a pod is reached", () => {
  it("by none when its policy names none, and by all when it names a port alone", () => {
    const selected = { ...policy([]).spec, policyTypes: ["Ingress"] };
    const closed = { ...policy([]), spec: selected };
    const http = [{ protocol: "TCP", port: "http" }];
    const open = { ...closed, spec: { ...selected, ingress: [{ ports: http }] } };

    expect(isReachedBy([closed], pod, neighbour, "http", home)).toBe(false);
    expect(isReachedBy([open], pod, outside("8.8.8.8"), "http", home)).toBe(true);
    expect(isReachedBy([open], pod, outside("8.8.8.8"), "metrics", home)).toBe(false);
  });
});
