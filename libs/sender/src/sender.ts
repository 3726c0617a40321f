/**
 * The `Sender` port on undici's dispatch. Writes the request as given, follows no redirect, and reads no more of the
 * answer than asked for (docs/design/delivery#one-deadline).
 */
import {
  allowsLocalNames,
  type CheckedDestination,
  checkDestination,
  connectionHeader,
  type DestinationPolicy,
  type Fault,
  type Headers,
  isFault,
  type Outcome,
  Shares,
  TextCache,
} from "@posthaste/domain";
import { type Clock, type Sender, type Sending } from "@posthaste/ports";
import { Call } from "./call.ts";
import { type Counts, noCounts } from "./counts.ts";
import { Deadlines } from "./deadlines.ts";
import { createDialer } from "./dial.ts";
import { infrastructure, unreachableBy } from "./failure.ts";
import { hostsFile } from "./hosts-file.ts";
import { createNameServer, type NameServer } from "./name-server.ts";
import { LocalFamilies } from "./local-families.ts";
import { type Hosts, Names } from "./names.ts";
import { OriginPools } from "./origin-pool.ts";

export type SenderSettings = {
  readonly policy: DestinationPolicy;
  /**
   * Calls to one origin at a time. One more is not queued but ends as `out_of_sockets`, which costs no retry: the caller's own slots,
   * including those for calls that wait, must stay below this.
   */
  readonly connectionsPerOriginMax: number;
  /** The origins without a running call whose connections are kept. */
  readonly originsMax: number;
  /** Connections without a call that are kept. */
  readonly idleConnectionsMax: number;
  /** All connections. A new one above this closes some that have no call, if there are any. */
  readonly connectionsMax: number;
  /** Bytes of answers beyond the first 16 KiB of each. */
  readonly answerBytesMax: number;
  readonly clock: Clock;
  /** PEM certificates of the authorities to trust, instead of Node's list. */
  readonly certificates?: readonly string[];
  /** The time for TCP's connect and the TLS handshake together. */
  readonly connectMsMax?: number;
  readonly nameServer?: NameServer;
  /** Default: /etc/hosts if the policy allows loopback or any private range, else none. */
  readonly hosts?: Hosts;
};

export type CountingSender = Sender & {
  readonly counts: Readonly<Counts>;
  /** Bytes of answers held, beyond the first 16 KiB of each. */
  readonly answerBytes: () => number;
};

export function createSender(settings: SenderSettings): CountingSender {
  const { policy, clock, connectMsMax = 10_000 } = settings;
  const counts = noCounts();
  const deadlines = new Deadlines(clock);
  const names = new Names({
    clock,
    server: settings.nameServer ?? createNameServer(),
    hosts: settings.hosts ?? (allowsLocalNames(policy) ? hostsFile("/etc/hosts", clock) : noHosts),
  });
  const { certificates } = settings;
  const trust = certificates === undefined ? {} : { certificates };
  const families = new LocalFamilies(clock);
  const dialing = { policy, names, clock, deadlines, counts, families, connectMsMax };
  const dialer = createDialer({ ...dialing, ...trust });
  const pools = new OriginPools(dialer, settings);
  const answerBytes = new Shares(settings.answerBytesMax);
  const ports = { pools, deadlines, counts, answerBytes };
  const check = rememberedCheck(policy);
  let isClosed = false;

  return {
    counts,
    answerBytes: () => answerBytes.held,
    send(request) {
      if (isClosed) return settled({ kind: "aborted" });
      const destination = check(request.url);
      if (isFault(destination)) return settled(unreachableBy("address_refused", destination.text));
      const pool = pools.take(destination);
      if (pool === undefined)
        return settled(
          infrastructure("out_of_sockets", `all connections to ${destination.origin} are in use`),
        );
      counts.calls++;
      const options = {
        path: destination.url.path,
        method: request.method,
        headers: flatHeaders(request.headers),
        body: request.body.byteLength === 0 ? null : request.body,
      };
      const call = new Call(request, options, clock.passedMs() + request.timeoutMs, pool, ports);
      call.start();
      return call;
    },
    async close() {
      isClosed = true;
      await pools.close();
      deadlines.close();
    },
  };
}

const noHosts: Hosts = () => Promise.resolve([]);

const settled = (outcome: Outcome): Sending => ({
  outcome: Promise.resolve(outcome),
  abort: () => undefined,
});

/** URLs repeat: most messages of a tenant go to a handful of URLs. A long URL is seldom repeated. */
const rememberedUrls = { entriesMax: 5_000, lengthMax: 512 };

function rememberedCheck(policy: DestinationPolicy): (url: string) => CheckedDestination | Fault {
  const remembered = new TextCache<CheckedDestination | Fault>(rememberedUrls);
  return (url) => {
    const known = remembered.get(url);
    if (known !== undefined) return known;
    const checked = checkDestination(url, policy);
    remembered.set(url, checked);
    return checked;
  };
}

/**
 * Returns headers as undici takes them: name, value, name, value. Drops the caller's headers that belong to the
 * connection, or follow from URL and body.
 */
function flatHeaders(headers: Headers): string[] {
  const flat: string[] = [];
  let hasUserAgent = false;
  let hasAcceptEncoding = false;
  for (const [name, value] of headers) {
    if (connectionHeader.test(name)) continue;
    const lowerName = name.toLowerCase();
    hasUserAgent ||= lowerName === "user-agent";
    hasAcceptEncoding ||= lowerName === "accept-encoding";
    flat.push(name, value);
  }
  if (!hasUserAgent) flat.push("User-Agent", "Posthaste");
  // Answers are kept as they come and never decompressed.
  if (!hasAcceptEncoding) flat.push("Accept-Encoding", "identity");
  return flat;
}
