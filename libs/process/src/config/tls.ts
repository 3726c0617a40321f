/**
 * TLS to a store beyond Node's defaults: the trusted authorities, and the certificate that a service presents. The
 * variables hold PEM texts, so that a mounted file is read by `…_FILE` as any secret is.
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { z } from "zod";
import { type Rule, variables } from "./variable.ts";

export type StoreName = "MongoDB" | "Redis" | "Kafka";
type Part = "CA" | "CERTIFICATE" | "KEY";

const subject = "Kafka, Redis and MongoDB";
/** A bundle of all public authorities has a quarter of this. */
const pemLengthMax = 1_048_576;

/** Returns the name of the variable as it is mostly given: by a file. */
export const tlsVariable = (store: StoreName, part: Part): string =>
  `POSTHASTE_${store.toUpperCase()}_TLS_${part}_FILE`;

const pem = (isRight: (text: string) => boolean) =>
  z.string().max(pemLengthMax).refine(isRight).optional();

export const tlsCa = (store: StoreName) =>
  pem(isCertificates).register(variables, {
    subject,
    secret: true,
    rule: "certificates in PEM",
    summary: `The authorities that may have signed the certificate of ${store}, instead of the authorities that Node trusts; mostly a file, \`${tlsVariable(store, "CA")}\`.`,
  });

export const tlsCertificate = (store: StoreName) =>
  pem(isCertificates).register(variables, {
    subject,
    secret: true,
    rule: "certificates in PEM, the service's own first",
    summary: `The certificate for ${store} if it asks for one, with the chain to its authority; mostly a file, \`${tlsVariable(store, "CERTIFICATE")}\`.`,
  });

export const tlsKey = (store: StoreName) =>
  pem(isKey).register(variables, {
    subject,
    secret: true,
    rule: "a private key in PEM that is not encrypted",
    summary: `The key of that certificate; mostly a file, \`${tlsVariable(store, "KEY")}\`, which may be the file of the certificate.`,
  });

const block = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

function isCertificates(text: string): boolean {
  const blocks = text.match(block) ?? [];
  return blocks.length > 0 && succeeds(() => blocks.map((each) => new X509Certificate(each)));
}

const isKey = (text: string): boolean => succeeds(() => createPrivateKey(text));

function succeeds(task: () => unknown): boolean {
  try {
    task();
    return true;
  } catch {
    return false;
  }
}

/** `offOf` returns how the store's own setting `setting` says that the store is reached without TLS. */
export function tlsRules(
  store: StoreName,
  setting: string,
  offOf: (value: unknown) => string | undefined,
): readonly Rule[] {
  const prefix = store.toLowerCase();
  const [ca, certificate, key] = [`${prefix}TlsCa`, `${prefix}TlsCertificate`, `${prefix}TlsKey`];
  const [nameOfCa, nameOfCertificate, nameOfKey] = (["CA", "CERTIFICATE", "KEY"] as const).map(
    (part) => tlsVariable(store, part),
  );
  return [
    {
      keys: [ca, certificate, key],
      problemsOf: (values, texts) => {
        if ((texts[certificate] === undefined) !== (texts[key] === undefined))
          return [`${nameOfCertificate} and ${nameOfKey} go together: set both or none`];
        const [shown, own] = [values[certificate], values[key]];
        if (typeof shown !== "string" || typeof own !== "string") return [];
        return new X509Certificate(shown).checkPrivateKey(createPrivateKey(own))
          ? []
          : [`${nameOfKey} is not the key of ${nameOfCertificate}`];
      },
    },
    {
      keys: [setting, ca, certificate],
      problemsOf: (values, texts) => {
        const off = offOf(values[setting]);
        return off !== undefined && (texts[ca] ?? texts[certificate]) !== undefined
          ? [`${off}, and ${nameOfCa} and ${nameOfCertificate} require TLS`]
          : [];
      },
    },
  ];
}
