import { describe, expect, it } from "@jest/globals";
import { type NetworkInterfaceInfo } from "node:os";
import { LocalFamilies } from "./local-families.ts";

const own = (address: string, internal = false): NetworkInterfaceInfo => {
  const common = { address, netmask: "", mac: "", internal, cidr: null };
  return address.includes(":")
    ? { ...common, family: "IPv6", scopeid: 0 }
    : { ...common, family: "IPv4" };
};

describe("the families that this host can call from", () => {
  it.each<[string, readonly NetworkInterfaceInfo[], readonly boolean[]]>([
    [
      "both",
      [own("127.0.0.1", true), own("192.0.2.2"), own("::1", true), own("2001:db8::2")],
      [true, true, true, true],
    ],
    ["no IPv6", [own("127.0.0.1", true), own("192.0.2.2")], [true, true, false, false]],
    [
      "IPv6 of the link alone",
      [own("192.0.2.2"), own("::1", true), own("fe80::2")],
      [true, false, false, true],
    ],
    ["none", [], [false, false, false, false]],
  ])(
    "are, of %s, those with a routable address, and for loopback a local one",
    (_, addresses, reached) => {
      const families = new LocalFamilies({ passedMs: () => 0 }, () => ({ eth0: [...addresses] }));

      expect(
        ["198.51.100.1", "127.0.0.1", "2606:4700::1", "::1"].map((address) =>
          families.reach(address),
        ),
      ).toEqual(reached);
    },
  );

  it("are looked at once a second at most", () => {
    let now = 0;
    let looks = 0;
    const families = new LocalFamilies({ passedMs: () => now }, () => (looks++, {}));

    for (; now < 3_000; now += 100) families.reach("192.0.2.1");

    expect(looks).toBe(3);
  });
});
