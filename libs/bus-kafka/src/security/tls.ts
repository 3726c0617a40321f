/** TLS to the brokers: which certificates are trusted, and which one is presented. */
import { createSecureContext, type SecureContext } from "node:tls";

/** PEM texts. */
export type Tls = {
  readonly ca?: string | undefined;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
};

/** Returns one context for all connections of a bus. Throws on an invalid certificate or key. */
export function secureContextOf({ ca, certificate, key }: Tls): SecureContext {
  return createSecureContext({
    ...(ca !== undefined && { ca }),
    ...(certificate !== undefined && { cert: certificate }),
    ...(key !== undefined && { key }),
  });
}
