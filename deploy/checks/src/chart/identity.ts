/** The parts of a render that an upgrade cannot change: object names, and fields that Kubernetes fixes at creation. */
import { type Rendered } from "./manifests.ts";

/** Returns a line for each object. */
export const identitiesOf = ({ of }: Rendered): readonly string[] => [
  ...of("Deployment").map(({ kind, metadata, spec: { selector } }) =>
    line(kind, metadata.name, { selector }),
  ),
  ...of("StatefulSet").map(
    ({ kind, metadata, spec: { selector, serviceName, volumeClaimTemplates } }) =>
      line(kind, metadata.name, { selector, serviceName, volumeClaimTemplates }),
  ),
  // Callers know a Service by its name, and a Secret is made once.
  ...[...of("Service"), ...of("Secret"), ...of("ServiceAccount")].map(({ kind, metadata }) =>
    line(kind, metadata.name, {}),
  ),
];

const line = (kind: string, name: string, fixed: object): string =>
  `${kind}/${name} ${JSON.stringify(fixed)}`;
