import { describe, expect, it } from "@jest/globals";
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
