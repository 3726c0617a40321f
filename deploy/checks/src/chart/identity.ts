/** What an upgrade cannot change: the names of objects, and the fields that Kubernetes takes at their creation only. */
import { type Rendered } from "./manifests.ts";

/** By `Kind/name`. */
export type Identities = Readonly<Record<string, unknown>>;

export function identitiesOf({ of }: Rendered): Identities {
  const deployments = of("Deployment").map(({ kind, metadata, spec }) => [
    `${kind}/${metadata.name}`,
    { selector: spec.selector },
  ]);
  const statefulSets = of("StatefulSet").map(({ kind, metadata, spec }) => {
    const { selector, serviceName, volumeClaimTemplates } = spec;
    return [`${kind}/${metadata.name}`, { selector, serviceName, volumeClaimTemplates }];
  });
  // Callers know a Service by its name; a Secret is made once.
  const named = [...of("Service"), ...of("Secret"), ...of("ServiceAccount")].map(
    ({ kind, metadata }) => [`${kind}/${metadata.name}`, {}],
  );
  return Object.fromEntries([...deployments, ...statefulSets, ...named]) as Identities;
}
