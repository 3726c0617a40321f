/** Returns what a container of the chart finds at its start: its variables, and the secrets mounted as files. */
import { authority, certificateKey, clientCertificate } from "@posthaste/testing";
import { type Files, type Texts } from "../environment.ts";
import { type Job, type Secret, type Workload } from "./manifests.ts";

const ofTheOperator: Texts = {
  token: "t".repeat(32),
  "signing-key-current": `sig_${"c".repeat(28)}`,
  "signing-key-next": `sig_${"n".repeat(28)}`,
  "sealing-keys": Buffer.alloc(32, 7).toString("base64"),
  "management-password": "m".repeat(16),
  "management-operators": `anna:${"a".repeat(16)}`,
  "management-viewers": `ben:${"b".repeat(16)} carl:${"c".repeat(16)}`,
  "metrics-token": "t".repeat(16),
  "kafka-password": "k",
  "kafka-oauth-client-secret": "s",
  "kafka-tls-ca": authority,
  "llm-key": "l",
  "oidc-client-secret": "o",
  "mongodb-tls-ca": authority,
  "mongodb-tls-certificate": clientCertificate,
  "mongodb-tls-key": certificateKey,
  "redis-sentinel-password": "s",
  "redis-tls-ca": authority,
  "redis-url": "rediss://user:password@redis.example:6380",
  "mongodb-uri": "mongodb://user:password@mongodb.example:27017",
};

export const serviceOf = (workload: Job | Workload): string =>
  workload.spec.template.spec.containers[0].name;

export function environmentOf(workload: Job | Workload): Texts {
  const { env } = workload.spec.template.spec.containers[0];
  return Object.fromEntries(env.map(({ name, value }) => [name, value ?? ""]));
}

export function filesOf(workload: Job | Workload, secrets: readonly Secret[]): Files {
  const { containers, volumes } = workload.spec.template.spec;
  const files: Record<string, string> = {};
  for (const { name, mountPath } of containers[0].volumeMounts) {
    const sources = volumes.find((volume) => volume.name === name)?.projected?.sources ?? [];
    for (const { secret, configMap } of sources) {
      for (const { key, path } of (secret ?? configMap)?.items ?? []) {
        const made = secrets.find(({ metadata }) => metadata.name === secret?.name);
        const text = made ? textOf(made, key) : ofTheOperator[path];
        if (text !== undefined) files[`${mountPath}/${path}`] = text;
      }
    }
  }
  return files;
}

function textOf({ data, stringData }: Secret, key: string): string | undefined {
  const encoded = data?.[key];
  return encoded === undefined ? stringData?.[key] : Buffer.from(encoded, "base64").toString();
}
