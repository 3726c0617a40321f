/** The parts of a render that an upgrade cannot change: object names, and fields that Kubernetes fixes at creation. */
import { type Rendered } from "./manifests.ts";

/** Returns a line for each object. */
export function identitiesOf({ of }: Rendered): readonly string[] {
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
  return [...deployments, ...statefulSets, ...named].map(
    ([name, fixed]) => `${String(name)} ${JSON.stringify(fixed)}`,
  );
}
