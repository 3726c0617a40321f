/** TLS to the brokers: which certificates are trusted, and which one is shown. */
import { createSecureContext, type SecureContext } from "node:tls";

/** Texts in PEM. */
export type Tls = {
  /** Absent: the authorities that Node trusts. */
  readonly ca?: string | undefined;
  /** Of the client, where brokers ask for one. */
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
};

/** One for all connections of a bus. Throws on what is no certificate or no key. */
export function secureContextOf({ ca, certificate, key }: Tls): SecureContext {
  return createSecureContext({
    ...(ca !== undefined && { ca }),
    ...(certificate !== undefined && { cert: certificate }),
    ...(key !== undefined && { key }),
  });
}
