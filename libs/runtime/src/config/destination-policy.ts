/** Where messages may go, as configured: one reading for the gateway's early errors and the dialer. */
import { type DestinationPolicy, destinationPolicy, isFault } from "@posthaste/domain";
import { type Profile } from "./variable.ts";

export type DestinationConfig = {
  readonly profile: Profile;
  readonly allowPrivateCidrs: readonly string[];
  readonly host: string;
  readonly port: number;
};

/** `config` has been validated: what cannot be read now is our mistake. */
export function destinationPolicyOf(config: DestinationConfig): DestinationPolicy {
  const isDev = config.profile === "dev";
  const host = config.host.includes(":") ? `[${config.host}]` : config.host;
  const policy = destinationPolicy({
    allowLoopback: isDev,
    anyPort: isDev,
    allowPrivateCidrs: config.allowPrivateCidrs,
    ownOrigins: [`${host}:${config.port}`],
  });
  if (isFault(policy)) throw new Error(policy.text);
  return policy;
}
