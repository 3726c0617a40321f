/** The parts of a render that an upgrade cannot change: object names, and fields that Kubernetes fixes at creation. */
import { type Rendered } from "./manifests.ts";

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
  // Callers know a Service by its name, and a Secret is made once.
  const named = [...of("Service"), ...of("Secret"), ...of("ServiceAccount")].map(
    ({ kind, metadata }) => [`${kind}/${metadata.name}`, {}],
  );
  return Object.fromEntries([...deployments, ...statefulSets, ...named]) as Identities;
}
