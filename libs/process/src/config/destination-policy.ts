/** The destination policy as configured, the same for the gateway's early errors and for the dialer. */
import { type DestinationPolicy, destinationPolicy, isFault } from "@posthaste/domain";
import { type Profile } from "./variable.ts";

export type DestinationConfig = {
  readonly profile: Profile;
  readonly allowPrivateCidrs: readonly string[];
  readonly host: string;
  readonly port: number;
  /** Set if the management API is on the port after the next. */
  readonly managementUser?: string | undefined;
};

/** `config` has been validated: a value that cannot be read is a bug. */
export function destinationPolicyOf(config: DestinationConfig): DestinationPolicy {
  const isDev = config.profile === "dev";
  const host = config.host.includes(":") ? `[${config.host}]` : config.host;
  const policy = destinationPolicy({
    allowLoopback: isDev,
    anyPort: isDev,
    allowPrivateCidrs: config.allowPrivateCidrs,
    ownOrigins: ownPorts(config).map((port) => `${host}:${port}`),
  });
  if (isFault(policy)) throw new Error(policy.text);
  return policy;
}

const ownPorts = ({ port, managementUser }: DestinationConfig): readonly number[] =>
  managementUser === undefined || port === 0 ? [port] : [port, port + 2];
