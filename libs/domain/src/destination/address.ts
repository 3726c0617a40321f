/**
 * Classifies IP addresses (docs/design/delivery#destinations: the IANA special-purpose registries and the clouds' own
 * special addresses). IPv4 is public unless listed; IPv6 is public only inside 2000::/3, minus what is listed.
 */
export type AddressClass =
  | "public"
  | "loopback"
  | "private"
  | "link_local"
  | "metadata"
  /** 0.0.0.0/8 and `::`, which name no host; a connection to 0.0.0.0 goes to loopback. */
  | "unspecified"
  | "multicast"
  | "reserved"
  /** An IPv4 address inside an IPv6 one: NAT64, 6to4, Teredo, IPv4-compatible. The inner address is not looked at. */
  | "transition";

/** Big-endian 32-bit words: one for IPv4, four for IPv6. `::ffff:a.b.c.d` is parsed to the IPv4 address in it. */
export type Address = readonly [number] | readonly [number, number, number, number];

export type Cidr = { readonly address: Address; readonly prefix: number };

export function classify(address: Address): AddressClass {
  const table = address.length === 1 ? ipv4Table : ipv6Table;
  for (const [cidr, addressClass] of table) if (contains(cidr, address)) return addressClass;
  return address.length === 1 || contains(globalUnicast, address) ? "public" : "reserved";
}

export function contains(cidr: Cidr, address: Address): boolean {
  if (cidr.address.length !== address.length) return false;
  for (let word = 0, bits = cidr.prefix; bits > 0; word++, bits -= 32) {
    const mask = bits >= 32 ? 0xffff_ffff : ~(0xffff_ffff >>> bits);
    if (((cidr.address[word] ?? 0) & mask) !== ((address[word] ?? 0) & mask)) return false;
  }
  return true;
}

/**
 * Parses a literal as DNS, sockets and the URL parser write it: a dotted quad, or IPv6 without brackets. Returns undefined
 * for an address with a zone.
 */
export function parseAddress(text: string): Address | undefined {
  return text.includes(":") ? parseIpv6(text) : parseIpv4(text);
}

/** Returns a key for the network of one owner: an IPv4 address itself, the /64 of an IPv6 address, any other text itself. */
export function networkOf(text: string): string {
  const address = parseAddress(text);
  if (address === undefined) return text;
  const words = address.length === 1 ? address : address.slice(0, 2);
  return words.map((word) => word.toString(16)).join(":");
}

/** Parses `10.0.0.0/8`, `fd00::/8`, or one address without a prefix. */
export function parseCidr(text: string): Cidr | undefined {
  const slash = text.indexOf("/");
  const address = parseAddress(slash < 0 ? text : text.slice(0, slash));
  if (address === undefined) return undefined;
  const width = 32 * address.length;
  if (slash < 0) return { address, prefix: width };
  const prefixText = text.slice(slash + 1);
  const prefix = Number(prefixText);
  return /^\d{1,3}$/.test(prefixText) && prefix <= width ? { address, prefix } : undefined;
}

function parseIpv4(text: string): Address | undefined {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  if (match === null) return undefined;
  let word = 0;
  for (const octetText of match.slice(1)) {
    const octet = Number(octetText);
    if (octet > 255 || (octetText.length > 1 && octetText.startsWith("0"))) return undefined;
    word = word * 256 + octet;
  }
  return [word];
}

function parseIpv6(text: string): Address | undefined {
  const hex = withHexTail(text);
  if (hex === undefined) return undefined;
  const halves = hex.split("::");
  if (halves.length > 2) return undefined;
  const [head = [], tail = []] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  const groups = [...head, ...Array<string>(missing).fill("0"), ...tail];
  if (!groups.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return undefined;
  const word = (index: number): number =>
    parseInt(groups[2 * index] ?? "0", 16) * 0x1_0000 + parseInt(groups[2 * index + 1] ?? "0", 16);
  const words = [word(0), word(1), word(2), word(3)] as const;
  return contains(mapped, words) ? [words[3]] : words;
}

/** Writes `::ffff:1.2.3.4` as `::ffff:102:304`. */
function withHexTail(text: string): string | undefined {
  if (!text.includes(".")) return text;
  const start = text.lastIndexOf(":") + 1;
  const quad = parseIpv4(text.slice(start))?.[0];
  if (quad === undefined) return undefined;
  return `${text.slice(0, start)}${(quad >>> 16).toString(16)}:${(quad & 0xffff).toString(16)}`;
}

const mapped: Cidr = { address: [0, 0, 0xffff, 0], prefix: 96 };
const globalUnicast: Cidr = { address: [0x2000_0000, 0, 0, 0], prefix: 3 };

// The first matching row decides, so narrow ranges precede wide ones.
const ipv4Table = table({
  "0.0.0.0/8": "unspecified",
  "127.0.0.0/8": "loopback",
  "169.254.169.254/32": "metadata",
  "169.254.170.2/32": "metadata",
  "169.254.170.23/32": "metadata",
  "100.100.100.200/32": "metadata",
  "192.0.0.192/32": "metadata",
  // Azure's wire server, in a public range.
  "168.63.129.16/32": "metadata",
  "10.0.0.0/8": "private",
  "172.16.0.0/12": "private",
  "192.168.0.0/16": "private",
  "100.64.0.0/10": "private",
  "169.254.0.0/16": "link_local",
  "192.0.0.0/24": "reserved",
  "192.0.2.0/24": "reserved",
  "192.31.196.0/24": "reserved",
  "192.52.193.0/24": "reserved",
  "192.88.99.0/24": "reserved",
  "192.175.48.0/24": "reserved",
  "198.18.0.0/15": "reserved",
  "198.51.100.0/24": "reserved",
  "203.0.113.0/24": "reserved",
  "224.0.0.0/4": "multicast",
  "255.255.255.255/32": "multicast",
  "240.0.0.0/4": "reserved",
});

const ipv6Table = table({
  "::1/128": "loopback",
  "::/128": "unspecified",
  "fd00:ec2::254/128": "metadata",
  "fd00:ec2::23/128": "metadata",
  "fd20:ce::254/128": "metadata",
  "::/96": "transition",
  "::ffff:0:0:0/96": "transition",
  "64:ff9b::/96": "transition",
  "64:ff9b:1::/48": "transition",
  "2001::/32": "transition",
  "2002::/16": "transition",
  "fc00::/7": "private",
  "fe80::/10": "link_local",
  "fec0::/10": "private",
  "ff00::/8": "multicast",
  "2001::/23": "reserved",
  "2001:db8::/32": "reserved",
  "3fff::/20": "reserved",
  "2620:4f:8000::/48": "reserved",
});

function table(
  rows: Readonly<Record<string, AddressClass>>,
): readonly (readonly [Cidr, AddressClass])[] {
  return Object.entries(rows).map(([text, addressClass]) => {
    const cidr = parseCidr(text);
    if (cidr === undefined) throw new Error(`not a CIDR: ${text}`);
    return [cidr, addressClass] as const;
  });
}
