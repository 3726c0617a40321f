/** Explains a failure of TLS with a store to an operator: which variable to check. */
import { type StoreName, tlsVariable } from "@posthaste/process";

/** Codes of Node and OpenSSL. */
const untrusted: ReadonlySet<string> = new Set([
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "CERT_SIGNATURE_FAILURE",
  "CERT_UNTRUSTED",
  "INVALID_CA",
]);
const outOfTime: ReadonlySet<string> = new Set(["CERT_HAS_EXPIRED", "CERT_NOT_YET_VALID"]);
const otherName = "ERR_TLS_CERT_ALTNAME_INVALID";
const noTls: ReadonlySet<string> = new Set([
  "ERR_SSL_WRONG_VERSION_NUMBER",
  "ERR_SSL_PACKET_LENGTH_TOO_LONG",
]);
/** The server ended the handshake because of the client's certificate, or because there was none. */
const refusal = /^ERR_SSL_.*_ALERT_.*(?:CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED)/;
const causesMax = 10;

/** `ca`: whether authorities were configured. Returns undefined for a failure that is not one of TLS and explains itself. */
export function tlsFailure(store: StoreName, ca: boolean, error: unknown): string | undefined {
  const failure = causesOf(error)
    .map((cause) => ({ code: codeOf(cause), text: cause.message }))
    .find(({ code }) => isOfTls(code));
  return failure && meaningOf(store, ca, failure.code, failure.text);
}

function meaningOf(store: StoreName, ca: boolean, code: string, text: string): string {
  if (untrusted.has(code)) {
    const variable = tlsVariable(store, "CA");
    return ca
      ? `${store} has a certificate that no authority in ${variable} has signed (${text})`
      : `${store} has a certificate of an unknown authority: set ${variable} (${text})`;
  }
  if (outOfTime.has(code) || code === otherName)
    return `${store} has a certificate that is expired, not yet valid or for another name (${text})`;
  if (noTls.has(code)) return `${store} does not speak TLS at this address (${text})`;
  return `${store} refuses this client's certificate, or wants one: check ${tlsVariable(store, "CERTIFICATE")} (${code})`;
}

const isOfTls = (code: string): boolean =>
  untrusted.has(code) ||
  outOfTime.has(code) ||
  code === otherName ||
  noTls.has(code) ||
  refusal.test(code);

function causesOf(error: unknown): readonly Error[] {
  const causes: Error[] = [];
  for (let cause = error; Error.isError(cause) && causes.length < causesMax; cause = cause.cause)
    causes.push(cause);
  return causes;
}

const codeOf = (error: Error): string => ("code" in error ? String(error.code) : "");
