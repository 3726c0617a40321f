import { describe, expect, it } from "@jest/globals";
import * as fc from "fast-check";
import ipaddr from "ipaddr.js";
import { classify, contains, networkOf, parseAddress, parseCidr } from "./address.ts";

const classOf = (text: string): string => {
  const address = parseAddress(text);
  return address === undefined ? "unreadable" : classify(address);
};

describe("the network of an address", () => {
  it.each([
    ["10.0.0.1", "10.0.0.1", true],
    ["10.0.0.1", "::ffff:10.0.0.1", true],
    ["10.0.0.1", "10.0.0.2", false],
    ["2001:db8:1:2::1", "2001:db8:1:2:ffff::9", true],
    ["2001:db8:1:2::1", "2001:db8:1:3::1", false],
    ["no address", "no address", true],
  ])("of %s and of %s: the same? %s", (one, other, same) => {
    expect(networkOf(one) === networkOf(other)).toBe(same);
  });
});

describe("addresses", () => {
  it.each([
    ["8.8.8.8", "public"],
    ["9.255.255.255", "public"],
    ["11.0.0.0", "public"],
    ["172.15.255.255", "public"],
    ["172.32.0.0", "public"],
    ["223.255.255.255", "public"],
    ["0.0.0.0", "unspecified"],
    ["0.1.2.3", "unspecified"],
    ["10.0.0.0", "private"],
    ["10.255.255.255", "private"],
    ["100.64.0.1", "private"],
    ["100.127.255.255", "private"],
    ["100.128.0.0", "public"],
    ["127.0.0.1", "loopback"],
    ["127.255.255.254", "loopback"],
    ["169.254.1.1", "link_local"],
    ["172.16.0.1", "private"],
    ["172.31.255.255", "private"],
    ["192.0.0.1", "reserved"],
    ["192.0.2.1", "reserved"],
    ["192.31.196.1", "reserved"],
    ["192.52.193.1", "reserved"],
    ["192.88.99.1", "reserved"],
    ["192.168.1.1", "private"],
    ["192.175.48.1", "reserved"],
    ["198.18.0.1", "reserved"],
    ["198.19.255.255", "reserved"],
    ["198.20.0.0", "public"],
    ["198.51.100.1", "reserved"],
    ["203.0.113.1", "reserved"],
    ["224.0.0.1", "multicast"],
    ["240.0.0.1", "reserved"],
    ["255.255.255.255", "multicast"],
    ["168.63.129.16", "metadata"],
    ["169.254.169.254", "metadata"],
    ["169.254.170.2", "metadata"],
    ["169.254.170.23", "metadata"],
    ["100.100.100.200", "metadata"],
    ["192.0.0.192", "metadata"],
  ])("IPv4 %s is %s", (text, expected) => {
    expect(classOf(text)).toBe(expected);
  });

  it.each([
    ["2606:4700::1111", "public"],
    ["2001:4860:4860::8888", "public"],
    ["3ffe::1", "public"],
    ["::", "unspecified"],
    ["::1", "loopback"],
    ["::7f00:1", "transition"],
    ["::127.0.0.1", "transition"],
    ["::ffff:0:7f00:1", "transition"],
    ["64:ff9b::a9fe:a9fe", "transition"],
    ["64:ff9b:1::a00:1", "transition"],
    ["2002:7f00:1::", "transition"],
    ["2001:0:7f00:1::", "transition"],
    ["2001:10::1", "reserved"],
    ["2001:20::1", "reserved"],
    ["2001:2::1", "reserved"],
    ["2001:db8::1", "reserved"],
    ["3fff::1", "reserved"],
    ["2620:4f:8000::1", "reserved"],
    ["100::1", "reserved"],
    ["100:0:0:1::1", "reserved"],
    ["5f00::1", "reserved"],
    ["4000::1", "reserved"],
    ["1fff:ffff::1", "reserved"],
    ["fc00::1", "private"],
    ["fdff::1", "private"],
    ["fec0::1", "private"],
    ["fe80::1", "link_local"],
    ["ff02::1", "multicast"],
    ["fd00:ec2::254", "metadata"],
    ["fd00:ec2::23", "metadata"],
    ["fd20:ce::254", "metadata"],
  ])("IPv6 %s is %s", (text, expected) => {
    expect(classOf(text)).toBe(expected);
  });

  it.each([
    ["::ffff:127.0.0.1", "loopback"],
    ["::ffff:7f00:1", "loopback"],
    ["::FFFF:10.0.0.1", "private"],
    ["0:0:0:0:0:ffff:a9fe:a9fe", "metadata"],
    ["::ffff:8.8.8.8", "public"],
  ])("the mapped address %s is the IPv4 address inside: %s", (text, expected) => {
    expect(classOf(text)).toBe(expected);
  });

  it.each([
    ["256.1.1.1"],
    ["1.2.3"],
    ["1.2.3.4.5"],
    ["01.2.3.4"],
    ["1.2.3.4 "],
    ["0x7f.0.0.1"],
    [""],
    ["example.com"],
    [":"],
    [":::"],
    ["1::2::3"],
    ["1:2:3:4:5:6:7"],
    ["1:2:3:4:5:6:7:8:9"],
    ["1:2:3:4:5:6:7::8"],
    ["::1%eth0"],
    ["fe80::1%25eth0"],
    ["[::1]"],
    ["12345::"],
    ["::g"],
    ["::1.2.3"],
    ["::1.2.3.4:5"],
  ])("%s is no address", (text) => {
    expect(parseAddress(text)).toBeUndefined();
  });

  it.each([
    ["10.0.0.0/8", "10.1.2.3", true],
    ["10.0.0.0/8", "11.0.0.0", false],
    ["0.0.0.0/0", "255.255.255.255", true],
    ["128.0.0.0/1", "127.255.255.255", false],
    ["192.168.7.9", "192.168.7.9", true],
    ["192.168.7.9", "192.168.7.8", false],
    ["fd00:1::/33", "fd00:1:7fff::1", true],
    ["fd00:1::/33", "fd00:1:8000::1", false],
    ["::/0", "fd00::1", true],
    ["::/0", "10.0.0.1", false],
    ["0.0.0.0/0", "fd00::1", false],
  ])("the range %s holds %s: %s", (range, text, expected) => {
    const cidr = parseCidr(range);
    const address = parseAddress(text);

    expect(cidr !== undefined && address !== undefined && contains(cidr, address)).toBe(expected);
  });

  it.each([
    ["10.0.0.0/33"],
    ["fd00::/129"],
    ["10.0.0.0/"],
    ["10.0.0.0/-1"],
    ["10.0.0/8"],
    ["x/8"],
    ["10.0.0.0/8/8"],
  ])("%s is no range", (text) => {
    expect(parseCidr(text)).toBeUndefined();
  });
});

describe("beside ipaddr.js, which others have written", () => {
  const special = [
    ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"],
    ...["172.16.0.0/12", "192.0.0.0/24", "192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/4"],
    ...["::/127", "::ffff:0:0/96", "64:ff9b::/96", "100::/64", "2001::/23", "2001:db8::/32"],
    ...["2002::/16", "fc00::/7", "fe80::/10", "ff00::/8"],
  ].map((range) => ipaddr.parseCIDR(range));
  const edge = fc
    .tuple(fc.constantFrom(...special), fc.boolean(), fc.integer({ min: -1, max: 1 }))
    .map(([[network, prefix], isLast, step]) => {
      const bytes = network.toByteArray();
      for (let bit = prefix; isLast && bit < bytes.length * 8; bit++)
        bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (0x80 >> (bit & 7));
      for (let at = bytes.length - 1, carry = step; carry !== 0 && at >= 0; at--) {
        const sum = (bytes[at] ?? 0) + carry;
        bytes[at] = sum & 0xff;
        carry = sum >> 8;
      }
      return ipaddr.fromByteArray(bytes).toString();
    });
  /** `ipaddr.js` reads `::1.2.3.4` as `::ffff:1.2.3.4`, which is another address (RFC 4291, 2.5.5). */
  const isCompatible = (text: string): boolean => /^::\d+\.\d/.test(text);
  const anywhere = fc.oneof(fc.ipV4(), fc.ipV6(), edge).filter((text) => !isCompatible(text));
  const processed = (text: string) => ipaddr.process(text);

  it("reads the same addresses, and nothing that is none", () => {
    const garbage = fc
      .string({ unit: fc.constantFrom(..."0123456789abcdef:.%/") })
      .filter((text) => !isCompatible(text));
    const isOne = (text: string) =>
      ipaddr.IPv4.isValidFourPartDecimal(text) ||
      (text.includes(":") && !text.includes("%") && ipaddr.IPv6.isValid(text));
    fc.assert(
      fc.property(fc.oneof(anywhere, garbage), (text) => {
        const words = parseAddress(text);
        expect(words !== undefined).toBe(isOne(text));
        const bytes = words?.flatMap((word) => [24, 16, 8, 0].map((by) => (word >>> by) & 0xff));
        if (bytes) expect(bytes).toEqual(processed(text).toByteArray());
      }),
    );
  });

  it("calls nothing public that has a purpose of its own", () => {
    fc.assert(
      fc.property(anywhere, (text) => {
        fc.pre(processed(text).range() !== "unicast");
        expect(classOf(text)).not.toBe("public");
      }),
    );
  });

  it("finds the same addresses in a range", () => {
    fc.assert(
      fc.property(anywhere, anywhere, fc.integer({ min: 0, max: 128 }), (text, network, bits) => {
        const [one, other] = [processed(text), processed(network)];
        const prefix = Math.min(bits, other.toByteArray().length * 8);
        const [address, cidr] = [parseAddress(text), parseCidr(`${other.toString()}/${prefix}`)];
        const isIn = one.kind() === other.kind() && one.match(other, prefix);
        expect(address && cidr && contains(cidr, address)).toBe(isIn);
      }),
    );
  });
});
