/** Loads schemas of kinds that a cluster has only after an installation, from their makers' Go modules, verified by go.sum. */
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { cached } from "@posthaste/local/cache";
import { Ajv, type AnySchemaObject, type ValidateFunction } from "ajv";
import { parse } from "yaml";
import { root } from "../root.ts";
import { hashOf } from "./go-tool.ts";
import { mustRun } from "./run.ts";

/** The Go module of each kind, and the file in it. */
const sources = {
  PodMonitor: operator("podmonitors"),
  PrometheusRule: operator("prometheusrules"),
  ScaledObject: ["github.com/kedacore/keda/v2", "config/crd/bases/keda.sh_scaledobjects.yaml"],
  HTTPRoute: [
    "sigs.k8s.io/gateway-api",
    "config/crd/standard/gateway.networking.k8s.io_httproutes.yaml",
  ],
} as const;

export type CustomKind = keyof typeof sources;
export const customKinds = Object.keys(sources) as CustomKind[];

function operator(plural: string) {
  const file = `example/prometheus-operator-crd/monitoring.coreos.com_${plural}.yaml`;
  return ["github.com/prometheus-operator/prometheus-operator", file] as const;
}

/** Resolves with a validator for each kind. A field outside the schema is an error. */
export async function loadCustomKinds(): Promise<ReadonlyMap<string, ValidateFunction>> {
  const source = join(root, "deploy/checks/tools/crds");
  const folder = await cached(`check-crds-${hashOf(source)}`, async (making) => {
    for (const [kind, [module, file]] of Object.entries(sources)) {
      const told = await mustRun("go", ["mod", "download", "-json", module], { cwd: source });
      const { Dir } = JSON.parse(told) as { readonly Dir: string };
      copyFileSync(join(Dir, file), join(making, `${kind}.yaml`));
    }
  });
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
  return new Map(
    customKinds.map((kind) => {
      const { spec } = parse(readFileSync(join(folder, `${kind}.yaml`), "utf8")) as Definition;
      const [version] = spec.versions.filter(({ served }) => served);
      if (!version) throw new Error(`${kind} is served in no version`);
      return [kind, ajv.compile(closed(version.schema.openAPIV3Schema))];
    }),
  );
}

type Definition = {
  readonly spec: {
    readonly versions: readonly {
      readonly served: boolean;
      readonly schema: { readonly openAPIV3Schema: AnySchemaObject };
    }[];
  };
};

/** Closes a schema and those within it to other properties, which an API server would drop silently. */
function closed(schema: AnySchemaObject): AnySchemaObject {
  const within = Object.fromEntries(
    Object.entries(schema).map(([key, value]: [string, unknown]) => [key, closedAt(key, value)]),
  );
  const isOpen = schema["x-kubernetes-preserve-unknown-fields"] === true;
  return schema["properties"] && !isOpen ? { ...within, additionalProperties: false } : within;
}

function closedAt(key: string, value: unknown): unknown {
  // Rewrites a flag within a pattern from Go's syntax.
  if (key === "pattern") return String(value).replace(/\(\?i\)(.*)\$$/, "(?i:$1)$$");
  if (key === "properties")
    return Object.fromEntries(
      Object.entries(value as Record<string, AnySchemaObject>).map(([name, one]) => [
        name,
        closed(one),
      ]),
    );
  return key === "items" || (key === "additionalProperties" && typeof value === "object")
    ? closed(value as AnySchemaObject)
    : value;
}
