/**
 * Renders the chart and returns its manifests by kind. The types hold only the fields that checks read; Kubernetes' schemas
 * cover the rest.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { root } from "../root.ts";
import { type ClusterSecrets } from "../tools/cluster.ts";
import { runHelmTemplate } from "../tools/helm.ts";
import { kubernetesVersion } from "../tools/kubernetes-validate.ts";

export const chart = join(root, "helm/posthaste");
export const namespace = "mail";

/** The value sets under `ci/`, such as `minimal` and `production`. */
export const valueSets = readdirSync(join(chart, "ci")).map((file) =>
  file.replace("-values.yaml", ""),
);
export const valuesFile = (valueSet: string): string =>
  join(chart, "ci", `${valueSet}-values.yaml`);

type Labels = Readonly<Record<string, string>>;
type Named = { readonly name: string; readonly labels?: Labels; readonly annotations?: Labels };
type Manifest<Kind extends string> = { readonly kind: Kind; readonly metadata: Named };

type EnvVar = {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: unknown;
};
type Probe = { readonly httpGet: { readonly path: string; readonly port: string } };
type Container = {
  readonly name: string;
  readonly image: string;
  readonly args: readonly string[];
  readonly env: readonly EnvVar[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly lifecycle?: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
  readonly resources: { readonly requests: Labels; readonly limits: Labels };
  readonly securityContext: unknown;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
};
type Items = {
  readonly name: string;
  readonly items: readonly { readonly key: string; readonly path: string }[];
};
type FileSource = { readonly secret?: Items; readonly configMap?: Items };
type WorkloadOf<Kind extends "Deployment" | "StatefulSet"> = Manifest<Kind> & {
  readonly spec: {
    readonly replicas?: number;
    readonly selector: { readonly matchLabels: Labels };
    readonly template: {
      readonly metadata: { readonly labels: Labels };
      readonly spec: {
        readonly automountServiceAccountToken: boolean;
        readonly enableServiceLinks: boolean;
        readonly terminationGracePeriodSeconds: number;
        readonly securityContext: unknown;
        readonly topologySpreadConstraints?: unknown;
        readonly containers: readonly [Container];
        readonly volumes: readonly {
          readonly name: string;
          readonly projected?: { readonly sources: readonly FileSource[] };
          readonly emptyDir?: { readonly sizeLimit: string };
        }[];
      };
    };
  };
};
type Deployment = WorkloadOf<"Deployment">;
type StatefulSet = WorkloadOf<"StatefulSet"> & {
  readonly spec: {
    readonly serviceName: string;
    readonly volumeClaimTemplates: readonly {
      readonly metadata: Named;
      readonly spec: { readonly resources: { readonly requests: Labels } };
    }[];
  };
};
export type Job = Manifest<"Job"> & {
  readonly metadata: { readonly annotations: Labels };
  readonly spec: {
    readonly backoffLimit: number;
    readonly activeDeadlineSeconds: number;
    readonly template: Deployment["spec"]["template"] & {
      readonly spec: { readonly restartPolicy: string; readonly serviceAccountName?: string };
    };
  };
};
/** The workload kinds that hold a service's pods. */
export type Workload = Deployment | StatefulSet;
export type Service = Manifest<"Service"> & {
  readonly spec: {
    readonly type: string;
    readonly selector: Labels;
    readonly ports: readonly { readonly port: number; readonly targetPort: string }[];
  };
};
type DisruptionBudget = Manifest<"PodDisruptionBudget"> & {
  readonly spec: {
    readonly maxUnavailable: number;
    readonly selector: { readonly matchLabels: Labels };
  };
};
type Autoscaler = Manifest<"HorizontalPodAutoscaler"> & {
  readonly spec: {
    readonly scaleTargetRef: { readonly kind: string; readonly name: string };
    readonly minReplicas: number;
    readonly maxReplicas: number;
  };
};
export type Secret = Manifest<"Secret"> & {
  readonly data?: Labels;
  readonly stringData?: Labels;
};
export type Peer = {
  readonly podSelector?: { readonly matchLabels?: Labels };
  readonly namespaceSelector?: { readonly matchLabels?: Labels };
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
};
export type Ports = readonly { readonly protocol: string; readonly port?: number | string }[];
export type NetworkPolicy = Manifest<"NetworkPolicy"> & {
  readonly spec: {
    readonly podSelector: { readonly matchLabels: Labels };
    readonly policyTypes: readonly string[];
    /** Null allows no source. */
    readonly ingress: null | readonly { readonly from?: readonly Peer[]; readonly ports: Ports }[];
    readonly egress: readonly { readonly to?: readonly Peer[]; readonly ports: Ports }[];
  };
};

/** Kinds that a cluster has only after an installation. Kubernetes has no schemas for them. */
type PodMonitor = Manifest<"PodMonitor"> & {
  readonly spec: {
    readonly selector: { readonly matchLabels: Labels };
    readonly podMetricsEndpoints: readonly {
      readonly port: string;
      readonly authorization?: { readonly credentials: unknown };
      readonly relabelings: readonly unknown[];
    }[];
  };
};
type PrometheusRule = Manifest<"PrometheusRule"> & { readonly spec: unknown };
type ScaledObject = Manifest<"ScaledObject"> & {
  readonly spec: {
    readonly scaleTargetRef: { readonly name: string };
    readonly minReplicaCount: number;
    readonly maxReplicaCount: number;
    readonly triggers: readonly { readonly type: string; readonly metadata: Labels }[];
  };
};
type HttpRoute = Manifest<"HTTPRoute"> & {
  readonly spec: {
    readonly rules: readonly {
      readonly backendRefs: readonly { readonly name: string; readonly port: number }[];
    }[];
  };
};
/** In the form of `--api-versions`. */
export const addedKinds = [
  "monitoring.coreos.com/v1/PodMonitor",
  "monitoring.coreos.com/v1/PrometheusRule",
  "keda.sh/v1alpha1/ScaledObject",
  "gateway.networking.k8s.io/v1/HTTPRoute",
] as const;
const isAdded = (kind: string): boolean => addedKinds.some((api) => api.endsWith(`/${kind}`));
type ConfigMap = Manifest<"ConfigMap"> & { readonly data: Labels };
type Ingress = Manifest<"Ingress"> & {
  readonly spec: {
    readonly rules: readonly {
      readonly http: {
        readonly paths: readonly {
          readonly backend: { readonly service: { readonly name: string } };
        }[];
      };
    }[];
  };
};
type TestPod = Manifest<"Pod"> & {
  readonly spec: {
    readonly securityContext: unknown;
    readonly containers: readonly [{ readonly args: readonly string[] }];
  };
};

type AnyManifest =
  | PodMonitor
  | PrometheusRule
  | ScaledObject
  | HttpRoute
  | ConfigMap
  | Ingress
  | TestPod
  | Deployment
  | StatefulSet
  | Service
  | DisruptionBudget
  | Autoscaler
  | Secret
  | NetworkPolicy
  | Job
  | Manifest<"ServiceAccount">;

export type Rendered = {
  /** The manifests that Kubernetes itself has schemas for. */
  readonly text: string;
  readonly kinds: ReadonlySet<string>;
  readonly of: <Kind extends AnyManifest["kind"]>(
    kind: Kind,
  ) => readonly Extract<AnyManifest, { kind: Kind }>[];
};

export type RenderOptions = {
  readonly has?: readonly string[];
  /** The Secrets in the cluster. Undefined renders without a cluster. */
  readonly secrets?: ClusterSecrets | undefined;
};

/**
 * Renders as `helm install posthaste` would. Throws helm's message when it refuses. Settings override the value set: `a.b=c`,
 * or a list or an object in JSON.
 */
export async function render(
  valueSet: string,
  settings: readonly string[] = [],
  options: RenderOptions = {},
): Promise<Rendered> {
  return renderFile(valuesFile(valueSet), settings, options);
}

export async function renderFile(
  file: string,
  settings: readonly string[] = [],
  { has = addedKinds, ...options }: RenderOptions = {},
): Promise<Rendered> {
  const where = ["--namespace", namespace, "--kube-version", kubernetesVersion];
  const set = settings.flatMap((text) => [/[\]}]$/.test(text) ? "--set-json" : "--set", text]);
  const apis = has.flatMap((api) => ["--api-versions", api]);
  const args = ["posthaste", chart, ...where, "--values", file, ...set, ...apis];
  const secrets = "secrets" in options ? options.secrets : {};
  const ran = await runHelmTemplate(args, secrets);
  if (ran.code !== 0) throw new Error(ran.stderr);
  const documents = parseAllDocuments(ran.stdout);
  const manifests = documents.flatMap((document) => {
    // Helm emits empty documents.
    const manifest = document.toJS() as AnyManifest | null;
    return manifest === null ? [] : [manifest];
  });
  return {
    text: documents
      .filter((document) => !isAdded((document.toJS() as AnyManifest | null)?.kind ?? ""))
      .join("---\n"),
    kinds: new Set(manifests.map(({ kind }) => kind)),
    of: <Kind extends AnyManifest["kind"]>(kind: Kind) =>
      manifests.filter(
        (manifest): manifest is Extract<AnyManifest, { kind: Kind }> => manifest.kind === kind,
      ),
  };
}
