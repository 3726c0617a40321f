/**
 * Opens connections, and refuses forbidden addresses (docs/design/delivery#destinations): publish has checked only the
 * form of a name.
 *
 * (1) Every address is vetted before it is dialled, a literal like an answer of DNS; only vetted addresses are
 *     dialled.
 * (2) The connected address is vetted again before the first byte, TLS's included.
 * (3) TLS is always verified, against the name in the URL.
 * (4) `dialled` is called once, within the resolver's time and `connectMsMax`, or never after `cancel`.
 */
import { constants } from "node:crypto";
import {
  connect as connectTcp,
  isIP,
  type LookupFunction,
  type Socket,
  type TcpNetConnectOpts,
} from "node:net";
import { connect as connectTls, createSecureContext, type SecureContext } from "node:tls";
import {
  addressRefusal,
  type DestinationPolicy,
  type DestinationUrl,
  networkOf,
  type Outcome,
} from "@posthaste/domain";
import { type Clock } from "@posthaste/ports";
import { type Counts } from "./counts.ts";
import { type Deadline, type Deadlines } from "./deadlines.ts";
import {
  connectFailure,
  DialFailure,
  infrastructure,
  tlsFailure,
  unreachableBy,
} from "./failure.ts";
import { type LocalFamilies } from "./local-families.ts";
import { type Names } from "./names.ts";
import { TlsSessions } from "./tls-sessions.ts";

type Dialled = (...result: [null, Socket] | [DialFailure, null]) => void;

export interface Dialing {
  /** The network that the connection goes to, once known. */
  readonly network: string | undefined;
  cancel(): void;
}

export interface Dialer {
  dial(target: DestinationUrl, dialled: Dialled): Dialing;
}

export type DialerPorts = {
  readonly policy: DestinationPolicy;
  readonly names: Names;
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  readonly counts: Counts;
  readonly families: LocalFamilies;
  readonly connectMsMax: number;
  /** PEM certificates of authorities to trust instead of Node's list. */
  readonly certificates?: readonly string[];
};

export function createDialer(ports: DialerPorts): Dialer {
  const secureContext = createSecureContext({
    // A destination could ask for endless handshakes, hundreds a second, on an open connection.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    ...(ports.certificates !== undefined && { ca: [...ports.certificates] }),
  });
  const sessions = new TlsSessions();
  return {
    dial(target, dialled) {
      const dial = new Dial({ ...ports, secureContext, sessions }, target, dialled);
      void dial.start();
      return dial;
    },
  };
}

/** At most this many addresses are tried. Each except the last has `attemptMsMax` before the next is tried. */
const addressesMax = 4;
const attemptMsMax = 1_000;
/** Keeps a network address translator from forgetting a call that is silent for hours. */
const tcpKeepAliveMs = 30_000;

type DialPorts = DialerPorts & {
  readonly secureContext: SecureContext;
  readonly sessions: TlsSessions;
};

class Dial implements Deadline, Dialing {
  network: string | undefined;
  at = Infinity;
  place: number | undefined;
  readonly #ports: DialPorts;
  readonly #target: DestinationUrl;
  #dialled: Dialled | undefined;
  #socket: Socket | undefined;

  constructor(ports: DialPorts, target: DestinationUrl, dialled: Dialled) {
    this.#ports = ports;
    this.#target = target;
    this.#dialled = dialled;
    if (target.isLiteral) this.network = networkOf(target.host);
  }

  async start(): Promise<void> {
    const addresses = await this.#vettedAddresses();
    if (this.#dialled === undefined) return;
    if ("kind" in addresses) return this.#fail(addresses);
    try {
      this.#connect(addresses);
    } catch (cause) {
      this.#fail(infrastructure("internal", `cannot open a socket: ${String(cause)}`));
    }
  }

  cancel(): void {
    this.#dialled = undefined;
    this.#ports.deadlines.remove(this);
    this.#socket?.destroy();
  }

  expire(): void {
    const text = `no connection within ${this.#ports.connectMsMax} ms`;
    const connected = this.#socket?.connecting === false;
    this.#fail(unreachableBy(connected ? "tls_failed" : "connect_failed", text));
  }

  async #vettedAddresses(): Promise<readonly string[] | Outcome> {
    const { host, isLiteral, port } = this.#target;
    const resolution = isLiteral ? { addresses: [host] } : await this.#ports.names.resolve(host);
    if ("failed" in resolution) {
      return resolution.failed === "resolver_down"
        ? infrastructure("resolver_down", resolution.text)
        : unreachableBy("dns_failed", resolution.text);
    }
    const vetted: string[] = [];
    let refusal: string | undefined;
    for (const address of resolution.addresses) {
      const why = addressRefusal(address, port, this.#ports.policy);
      if (why === undefined) vetted.push(address);
      else refusal = why;
      if (vetted.length === addressesMax) break;
    }
    return vetted.length > 0
      ? vetted
      : unreachableBy("address_refused", refusal ?? "endpoint has no address");
  }

  #connect(addresses: readonly string[]): void {
    const [first] = addresses;
    this.network = first === undefined ? undefined : networkOf(first);
    const socket = connectTcp(tcpOptions(addresses, this.#target.port));
    this.#socket = socket;
    this.#ports.counts.connects++;
    this.at = this.#ports.clock.passedMs() + this.#ports.connectMsMax;
    this.#ports.deadlines.add(this);
    socket.on("error", (error) =>
      this.#fail(this.#socket === socket ? this.#connectFailure(error) : tlsFailure(error)),
    );
    socket.once("connect", () => this.#connected(socket));
  }

  #connectFailure(error: Error): Outcome {
    return connectFailure(error, (address) => this.#ports.families.reach(address));
  }

  #connected(socket: Socket): void {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined) return this.#fail(connectFailure({ code: "ECONNRESET" }));
    const refusal = addressRefusal(remoteAddress, this.#target.port, this.#ports.policy);
    if (refusal !== undefined) {
      this.#ports.counts.ssrfBlockedLate++;
      return this.#fail(unreachableBy("address_refused", refusal));
    }
    this.network = networkOf(remoteAddress);
    if (this.#target.scheme !== "https") return this.#succeed(socket);
    try {
      this.#secure(socket);
    } catch (error) {
      this.#fail(tlsFailure(error));
    }
  }

  #secure(socket: Socket): void {
    const { host, isLiteral, port } = this.#target;
    const { secureContext, sessions } = this.#ports;
    const sessionKey = `${host}:${port}`;
    const session = sessions.of(sessionKey);
    const secured = connectTls({
      socket,
      // The name that the certificate is compared with; SNI takes no addresses.
      host,
      ...(isLiteral ? {} : { servername: host }),
      ...(session === undefined ? {} : { session }),
      secureContext,
      ALPNProtocols: ["http/1.1"],
      // Written out, so that no environment variable switches it off.
      rejectUnauthorized: true,
    });
    this.#socket = secured;
    secured.on("error", (error) => this.#fail(tlsFailure(error)));
    secured.on("session", (fresh) => sessions.keep(sessionKey, fresh));
    const ended = (): void => this.#fail(tlsFailure({ code: "ECONNRESET" }));
    secured.once("end", ended);
    secured.once("secureConnect", () => {
      secured.off("end", ended);
      this.#succeed(secured);
    });
  }

  #succeed(socket: Socket): void {
    this.#ports.deadlines.remove(this);
    const dialled = this.#dialled;
    this.#dialled = undefined;
    dialled?.(null, socket);
  }

  #fail(outcome: Outcome): void {
    const dialled = this.#dialled;
    this.cancel();
    dialled?.(new DialFailure(outcome), null);
  }
}

function tcpOptions(addresses: readonly string[], port: number): TcpNetConnectOpts {
  const common = { port, noDelay: true, keepAlive: true, keepAliveInitialDelay: tcpKeepAliveMs };
  const [first = "", ...others] = addresses;
  if (others.length === 0) return { ...common, host: first };
  const lookup: LookupFunction = (_name, _options, answer) =>
    answer(
      null,
      addresses.map((address) => ({ address, family: isIP(address) })),
    );
  return {
    ...common,
    host: "vetted.invalid",
    lookup,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: attemptMsMax,
  };
}
