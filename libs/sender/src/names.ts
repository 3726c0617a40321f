/**
 * Resolves names to addresses. Owns the cache; only the dialer uses it, and vets every address.
 *
 * (1) Only answers are kept, for their TTL bounded by `ttlMsMin` and `ttlMsMax`; at most `namesMax` of them.
 * (2) A name is resolved once at a time, however many calls wait for it.
 * (3) A resolver that fails for every name is our failure; one that fails for a single name is the destination's.
 */
import { isLoopbackName, TextCache } from "@posthaste/domain";
import { type Clock } from "@posthaste/ports";
import { codeOf } from "./failure.ts";
import { type AddressRecord, type NameServer } from "./name-server.ts";

export type Resolution =
  | { readonly addresses: readonly string[] }
  | { readonly failed: "dns_failed" | "resolver_down"; readonly text: string };

/** Returns the addresses of names that are known without DNS, as in /etc/hosts. */
export type Hosts = (name: string) => Promise<readonly string[]>;

const ttlMsMin = 1_000;
const ttlMsMax = 60_000;
const namesMax = 10_000;
/** The longest possible name. */
const nameLengthMax = 255;
/** An answer this recent proves that the resolver works. */
const evidenceMs = 30_000;

export class Names {
  readonly #clock: Clock;
  readonly #server: NameServer;
  readonly #hosts: Hosts;
  readonly #known = new TextCache<{
    readonly addresses: readonly string[];
    readonly until: number;
  }>({ entriesMax: namesMax, lengthMax: nameLengthMax });
  readonly #asked = new Map<string, Promise<Resolution>>();
  #answeredAt = -Infinity;

  constructor(ports: { clock: Clock; server: NameServer; hosts: Hosts }) {
    this.#clock = ports.clock;
    this.#server = ports.server;
    this.#hosts = ports.hosts;
  }

  /** Never rejects. */
  async resolve(name: string): Promise<Resolution> {
    if (isLoopbackName(name)) return { addresses: loopback };
    const known = this.#known.get(name);
    if (known !== undefined && known.until > this.#clock.passedMs()) return known;
    let asked = this.#asked.get(name);
    if (asked === undefined) {
      asked = this.#ask(name).finally(() => this.#asked.delete(name));
      this.#asked.set(name, asked);
    }
    return asked;
  }

  async #ask(name: string): Promise<Resolution> {
    const fromHosts = await this.#hosts(name);
    if (fromHosts.length > 0) return { addresses: fromHosts };
    const answers = await Promise.allSettled([
      this.#server.resolve4(name),
      this.#server.resolve6(name),
    ]);
    const records = answers.flatMap((answer) =>
      answer.status === "fulfilled" ? answer.value : [],
    );
    const codes = answers.flatMap((answer) =>
      answer.status === "rejected" ? [codeOf(answer.reason)] : [],
    );
    if (codes.length < answers.length || codes.some((code) => answerCodes.has(code)))
      this.#answeredAt = this.#clock.passedMs();
    if (records.length > 0) return this.#keep(name, records);
    const trouble = codes.find((code) => !answerCodes.has(code));
    if (trouble === undefined) return { failed: "dns_failed", text: `no such host: ${name}` };
    return (await this.#works(trouble))
      ? { failed: "dns_failed", text: `the name server of ${name} fails: ${trouble}` }
      : { failed: "resolver_down", text: `the resolver fails: ${trouble}` };
  }

  #keep(name: string, records: readonly AddressRecord[]): Resolution {
    const ttlMs = 1_000 * Math.min(...records.map((record) => record.ttl));
    const resolution = {
      addresses: records.map((record) => record.address),
      until: this.#clock.passedMs() + Math.min(Math.max(ttlMs, ttlMsMin), ttlMsMax),
    };
    this.#known.set(name, resolution);
    return resolution;
  }

  /**
   * Reports whether the resolver works, by asking for another name: a domain whose own servers are broken looks the
   * same as a broken resolver.
   */
  async #works(trouble: string): Promise<boolean> {
    const isRecent = this.#clock.passedMs() - this.#answeredAt < evidenceMs;
    if (isRecent && trouble !== unasked) return true;
    try {
      await this.#server.probe();
      this.#answeredAt = this.#clock.passedMs();
      return true;
    } catch {
      this.#server.renew();
      return false;
    }
  }
}

const loopback: readonly string[] = ["127.0.0.1", "::1"];

/**
 * The code when no resolver could be reached, for example because this process has no file left for a socket: earlier
 * answers prove nothing.
 */
const unasked = "ECONNREFUSED";

/** Codes of a working resolver: no such name, no such record, or an impossible name. */
const answerCodes: ReadonlySet<string> = new Set(["ENOTFOUND", "ENODATA", "EBADNAME"]);
