import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { isFault } from "../shared/fault.ts";
import { checkDestination } from "./destination.ts";
import {
  type DestinationPolicy,
  destinationPolicy,
  type DestinationPolicySettings,
} from "./policy.ts";

const policyOf = (settings: DestinationPolicySettings = {}): DestinationPolicy => {
  const policy = destinationPolicy(settings);
  if (isFault(policy)) throw new Error(policy.text);
  return policy;
};
const strict = policyOf();
const dev = policyOf({
  allowLoopback: true,
  anyPort: true,
  ownOrigins: ["0.0.0.0:8080", "posthaste.example:443"],
});

/** Returns "allowed", or the fault's text after its fixed beginning. */
const judge = (text: string, policy = strict): string => {
  const checked = checkDestination(text, policy);
  if (!isFault(checked)) return "allowed";
  expect(checked.fault).toBe("malformed");
  expect(checked.text.startsWith("invalid destination url: ")).toBe(true);
  return checked.text.slice("invalid destination url: ".length);
};

describe("a destination URL", () => {
  it.each([
    [
      "https://example.com/a?b=c",
      { scheme: "https", host: "example.com", port: 443, path: "/a?b=c" },
    ],
    ["HTTPS://EXAMPLE.com", { scheme: "https", host: "example.com", port: 443, path: "/" }],
    [
      "http://example.com.:8080/x#y",
      { scheme: "http", host: "example.com", port: 8080, path: "/x" },
    ],
    [
      "http://example.com#@127.0.0.1/",
      { scheme: "http", host: "example.com", port: 80, path: "/" },
    ],
    [
      "http://example.com\\@127.0.0.1/",
      { scheme: "http", host: "example.com", port: 80, path: "/@127.0.0.1/" },
    ],
    [
      "https://bücher.example/é",
      { scheme: "https", host: "xn--bcher-kva.example", port: 443, path: "/%C3%A9" },
    ],
    [
      "https://a.b/?u=https://c.d/?z=1&w=%23",
      { scheme: "https", host: "a.b", port: 443, path: "/?u=https://c.d/?z=1&w=%23" },
    ],
  ])("%s is accepted, and dialled as written", (text, url) => {
    expect(checkDestination(text, strict)).toMatchObject({ url: { ...url, isLiteral: false } });
  });

  it("with a public IP address is accepted", () => {
    expect(checkDestination("http://[2606:4700::1111]/", strict)).toMatchObject({
      url: { host: "2606:4700::1111", isLiteral: true },
      origin: "http://[2606:4700::1111]",
    });
    expect(judge("http://8.8.8.8/")).toBe("allowed");
  });

  it.each([
    ["file:///etc/passwd"],
    ["gopher://127.0.0.1:6379/_x"],
    ["unix:/var/run/docker.sock"],
    ["ftp://example.com"],
    ["data:text/plain,x"],
    ["javascript:alert(1)"],
    ["ws://example.com"],
    ["//a.b/c"],
    ["example.com"],
    [""],
    ["http:127.0.0.1/"],
    ["http:/127.0.0.1/"],
    ["http:\\\\127.0.0.1/"],
    ["https:/example.com"],
    ["https:///a.b"],
  ])("without http:// or https:// is refused: %s", (text) => {
    expect(judge(text)).toBe("endpoint has invalid scheme, add http:// or https://");
  });

  it("with a loopback address is refused in the known words", () => {
    expect(checkDestination("http://[::1]:8080/x", strict)).toEqual({
      fault: "malformed",
      text: "invalid destination url: endpoint resolves to a loopback address: ::1",
    });
  });

  it.each([
    ["http://127.1/"],
    ["http://2130706433/"],
    ["http://0x7f000001/"],
    ["http://017700000001/"],
    ["http://0177.0.0.1/"],
    ["http://0x7f.1/"],
    ["http://127.0.0.1./"],
    ["http://①②⑦.⓪.⓪.①/"],
    ["http://127。0。0。1/"],
    ["http://１２７.0.0.1/"],
    ["http://%31%32%37.0.0.1/"],
    ["http://[::ffff:127.0.0.1]/"],
    ["http://localhost./"],
    ["http://LOCALHOST/"],
    ["http://ⓛocalhost/"],
    ["http://a.localhost/"],
  ])("that means loopback is refused however it is written: %s", (text) => {
    expect(judge(text)).toMatch(/^endpoint resolves to a loopback address: /);
  });

  it.each([
    ["http://0/"],
    ["http://0.0.0.0/"],
    ["http://0x/"],
    ["http://[::]/"],
    ["http://[::127.0.0.1]/"],
    ["http://[64:ff9b::169.254.169.254]/"],
    ["http://[64:ff9b:1::a00:1]/"],
    ["http://[2002:7f00:1::]/"],
    ["http://[2001:0:7f00:1::]/"],
    ["http://[fe80::1]/"],
    ["http://[fec0::1]/"],
    ["http://[fd00:ec2::254]/"],
    ["http://[5f00::1]/"],
    ["http://[100::1]/"],
    ["http://[ff02::1]/"],
    ["http://168.63.129.16/"],
    ["http://10.0.0.1/"],
    ["http://192.168.0.1:8080/"],
    ["http://172.16.0.1/"],
    ["http://169.254.169.254/latest/meta-data/"],
  ])("with an address that is not public is refused: %s", (text) => {
    expect(judge(text)).toMatch(/^endpoint resolves to an? [\w-]+( metadata)? address: /);
  });

  it.each([
    ["http://intranet/"],
    ["http://printer.local/"],
    ["http://metadata.google.internal/"],
    ["http://api.svc/"],
    ["http://api.default.svc.cluster.local/"],
    ["http://router.home.arpa/"],
  ])("with a name of the local network is refused: %s", (text) => {
    expect(judge(text)).toMatch(
      /^endpoint (has a local host name|resolves to a cloud metadata address): /,
    );
  });

  it.each([
    ["http://[fe80::1%25eth0]/"],
    ["http://256.256.256.256/"],
    ["http://1.2.3.4.5/"],
    ["http://4294967296/"],
    ["http://08.0.0.1/"],
    ["http://127.0.0.1%00.example.com/"],
    ["http://xn--/"],
    ["http://a.b:99999/"],
    ["http://?x"],
    ["http://"],
  ])("that cannot be parsed is refused: %s", (text) => {
    expect(judge(text)).not.toBe("allowed");
  });

  it.each([
    ["http://a..b/"],
    ["http://.a.b/"],
    ["http://-a.b/"],
    ["http://a-.b/"],
    ["http://a,b.com/"],
    [`http://${"a".repeat(64)}.com/`],
    [`http://${"a.".repeat(127)}com/`],
  ])("with a malformed host name is refused: %s", (text) => {
    expect(judge(text)).toBe("endpoint has an invalid host name");
  });

  it.each([
    ["http://exa\nmple.com/", "http://example.com/"],
    ["http://example.com/a b", "http://example.com/a%20b"],
    ["http://example.com/\r\nX-Evil: 1", "http://example.com/X-Evil:%201"],
    ["http://example.com/\u202etxt", "http://example.com/%E2%80%AEtxt"],
    ["http://exa\u200bmple.com/", "http://example.com/"],
  ])(
    "with characters that a reader does not see is stored as it is dialled: %j",
    (text, stored) => {
      expect(checkDestination(text, strict)).toMatchObject({ text: stored });
    },
  );

  it.each([
    ["http://127.0.0.1\t/"],
    ["http://127.0.\n0.1/"],
    ["http://local\u00adhost/"],
    [" http://localhost/ "],
    ["http:\t//localhost\\x"],
  ])("that means loopback once it is read is refused: %j", (text) => {
    expect(judge(text)).toMatch(/^endpoint resolves to a loopback address: /);
  });

  it.each([
    ["http://user:pw@10.0.0.1/"],
    ["http://user@example.com/"],
    ["http://:pw@example.com/"],
  ])("with credentials is refused with a hint: %s", (text) => {
    expect(judge(text)).toBe(
      "endpoint has credentials, send them in the -Forward-Authorization header",
    );
  });

  it("may name the ports of the web and most others, but no infrastructure and never 0", () => {
    const allowed = (port: number, policy = strict): boolean =>
      judge(`http://example.com:${port}/`, policy) === "allowed";

    expect([80, 443, 1024, 3000, 8080, 9000, 65_535].filter((port) => !allowed(port))).toEqual([]);
    expect(
      [0, 1, 22, 25, 81, 444, 1023, 2375, 3306, 5432, 6379, 9092, 27_017].filter((port) =>
        allowed(port),
      ),
    ).toEqual([]);
    expect([1, 22, 25, 6379].filter((port) => !allowed(port, dev))).toEqual([]);
    expect(allowed(0, dev)).toBe(false);
  });

  it("may be loopback in the dev profile, except for ourselves under any alias", () => {
    const own = [
      "localhost",
      "127.0.0.1",
      "127.9.9.9",
      "[::1]",
      "a.localhost",
      "[::ffff:127.0.0.1]",
    ];

    expect(own.map((host) => judge(`http://${host}:3000/`, dev))).toEqual(own.map(() => "allowed"));
    expect(own.map((host) => judge(`http://${host}:8080/`, dev))).toEqual(
      own.map(() => "endpoint is this service itself"),
    );
    expect(judge("http://0.0.0.0:3000/", dev)).not.toBe("allowed");
    expect(judge("http://10.0.0.1:3000/", dev)).not.toBe("allowed");
    expect(judge("http://web:3000/", dev)).toBe("allowed");
  });

  it("with one of our own names is refused, at its port only", () => {
    expect(judge("https://POSTHASTE.example./x", dev)).toBe("endpoint is this service itself");
    expect(judge("https://posthaste.example:8443/x", dev)).toBe("allowed");
  });

  it("may be in a listed private range, which opens local names but neither loopback nor metadata", () => {
    const private8 = policyOf({
      allowPrivateCidrs: ["10.0.0.0/8", "fd00::/8"],
      ownOrigins: ["10.0.0.5:8080"],
    });

    expect(judge("http://10.2.3.4/", private8)).toBe("allowed");
    expect(judge("http://[fd00::7]/", private8)).toBe("allowed");
    expect(judge("http://[::ffff:10.0.0.1]/", private8)).toBe("allowed");
    expect(judge("http://api.default.svc/", private8)).toBe("allowed");
    expect(judge("http://192.168.0.1/", private8)).not.toBe("allowed");
    expect(judge("http://10.0.0.5:8080/", private8)).toBe("endpoint is this service itself");
    const everything = policyOf({ allowPrivateCidrs: ["0.0.0.0/0", "::/0"] });
    const closed = [
      "127.0.0.1",
      "localhost",
      "[::1]",
      "0.0.0.0",
      "[::]",
      "169.254.169.254",
      "100.100.100.200",
      "[fd00:ec2::254]",
      "[64:ff9b::7f00:1]",
      "[2002:7f00:1::]",
      "224.0.0.1",
      "metadata.google.internal",
    ];
    expect(closed.filter((host) => judge(`http://${host}/`, everything) === "allowed")).toEqual([]);
  });

  it("in any blocked range, in any spelling that the parser takes for it, is refused", () => {
    fc.assert(
      fc.property(blockedSpelling, (host) => {
        expect(checkDestination(`http://${host}/`, strict)).toHaveProperty("fault");
      }),
      { numRuns: 2_000 },
    );
  });

  it("of any characters is checked without an exception", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("http://", "https://", ""),
        fc.string({ unit: "binary" }),
        (scheme, rest) => {
          const checked = checkDestination(scheme + rest, strict);
          expect(isFault(checked) || checked.url.host.length > 0).toBe(true);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

describe("a policy", () => {
  it.each([
    [{ allowPrivateCidrs: ["10.0.0.0/40"] }, "not an address range: 10.0.0.0/40"],
    [{ allowPrivateCidrs: ["intranet"] }, "not an address range: intranet"],
    [{ ownOrigins: ["example.com"] }, "not a host and a port: example.com"],
    [{ ownOrigins: ["::1"] }, "not a host and a port: ::1"],
  ])("that cannot be read says why: %j", (settings, text) => {
    expect(destinationPolicy(settings)).toEqual({ fault: "malformed", text });
  });
});

/** An address of each blocked range, in all spellings (docs/design/delivery#destinations). */
const blockedV4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.31.196.0/24",
  "192.52.193.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "192.175.48.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  "168.63.129.16/32",
];
const v4 = fc.constantFrom(...blockedV4).chain((range) => {
  const [base = "", prefix = "32"] = range.split("/");
  const start = base.split(".").reduce((word, octet) => word * 256 + Number(octet), 0);
  return fc
    .integer({ min: 0, max: 2 ** (32 - Number(prefix)) - 1 })
    .map((offset) => start + offset);
});
const octets = (word: number): readonly number[] =>
  [24, 16, 8, 0].map((shift) => (word >>> shift) & 0xff);
const fullWidth = (text: string): string =>
  text.replace(/[0-9a-z]/g, (char) => String.fromCodePoint(char.charCodeAt(0) + 0xfee0));
const percent = (text: string): string => text.replace(/\d/g, (char) => `%3${char}`);
const number = (value: number, base: number): string =>
  base === 16 ? `0x${value.toString(16)}` : base === 8 ? `0${value.toString(8)}` : String(value);
const v4Spelling = fc
  .tuple(
    v4,
    fc.array(fc.constantFrom(8, 10, 16), { minLength: 4, maxLength: 4 }),
    fc.integer({ min: 1, max: 4 }),
  )
  .map(([word, bases, parts]) => {
    const bytes = octets(word);
    const last = bytes.slice(parts - 1).reduce((sum, octet) => sum * 256 + octet, 0);
    return [...bytes.slice(0, parts - 1), last]
      .map((value, index) => number(value, bases[index] ?? 10))
      .join(".");
  });
const group = fc.integer({ min: 0, max: 0xffff }).map((value) => value.toString(16));
const v6Spelling = fc
  .oneof(
    v4.map((word) => `::ffff:${octets(word).join(".")}`),
    v4.map((word) => `::ffff:${(word >>> 16).toString(16)}:${(word & 0xffff).toString(16)}`),
    v4.map((word) => `::${octets(word).join(".")}`),
    v4.map((word) => `64:ff9b::${octets(word).join(".")}`),
    v4.map((word) => `2002:${(word >>> 16).toString(16)}:${(word & 0xffff).toString(16)}::1`),
    fc
      .tuple(
        fc.constantFrom(
          "fc00",
          "fd12",
          "fe80",
          "fec0",
          "ff02",
          "5f00",
          "2001:db8",
          "2001:0",
          "2001:2",
          "3fff",
          "4000",
          "e000",
        ),
        group,
        group,
      )
      .map(([start, a, b]) => `${start}::${a}:${b}`),
  )
  .map((text) => `[${text}]`);
const blockedSpelling = fc.oneof(
  v4Spelling,
  v4Spelling.map(fullWidth),
  v4Spelling.map(percent),
  v4Spelling.map((text) => text.replaceAll(".", "。")),
  v4Spelling.map((text) => `${text}.`),
  v6Spelling,
  v6Spelling.map((text) => text.toUpperCase()),
);
