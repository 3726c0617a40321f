/**
 * Schemas of the configurations and dashboards, after the documentation of the programs that read them, limited to
 * the parts used here. An unknown key is refused. Sources: the collector's and Tempo's pages on configuration, and
 * Grafana's pages on provisioning and on the JSON model of a dashboard.
 */
type Schema = Readonly<Record<string, unknown>>;

const text = { type: "string", minLength: 1 };
const flag = { type: "boolean" };
const hostAndPort = { type: "string", pattern: "^[a-z0-9.-]+:\\d+$" };
const duration = { type: "string", pattern: "^\\d+(ms|s|m|h)$" };
const port = { type: "integer", minimum: 1, maximum: 65_535 };
const path = { type: "string", pattern: "^/" };
const uid = { type: "string", pattern: "^[a-zA-Z0-9_-]{1,40}$" };

const list = (items: Schema): Schema => ({ type: "array", minItems: 1, items });
/** Returns an object with these properties and no other. A name with `?` is optional. */
function only(properties: Readonly<Record<string, Schema>>): Schema {
  const named = Object.entries(properties).map(([key, schema]) => [key.replace("?", ""), schema]);
  const required = Object.keys(properties).filter((key) => !key.endsWith("?"));
  return {
    type: "object",
    properties: Object.fromEntries(named) as unknown,
    required,
    additionalProperties: false,
  };
}
const open = (properties: Readonly<Record<string, Schema>>): Schema => ({
  ...only(properties),
  additionalProperties: true,
});

const otlp = only({
  protocols: only({
    "http?": only({ endpoint: hostAndPort }),
    "grpc?": only({ endpoint: hostAndPort }),
  }),
});

export const collectorSchema = only({
  receivers: only({ otlp }),
  processors: only({
    batch: only({ "timeout?": duration, "send_batch_size?": { type: "integer" } }),
  }),
  exporters: only({ otlp: only({ endpoint: hostAndPort, tls: only({ insecure: flag }) }) }),
  service: only({
    telemetry: only({
      metrics: only({ level: { enum: ["none", "basic", "normal", "detailed"] } }),
    }),
    pipelines: only({
      traces: only({ receivers: list(text), processors: list(text), exporters: list(text) }),
    }),
  }),
});

export const tempoSchema = only({
  server: only({ http_listen_port: port }),
  distributor: only({ receivers: only({ otlp }) }),
  compactor: only({ compaction: only({ block_retention: duration }) }),
  storage: only({
    trace: only({
      backend: { enum: ["local", "s3", "gcs", "azure"] },
      wal: only({ path }),
      local: only({ path }),
    }),
  }),
  usage_report: only({ reporting_enabled: flag }),
});

const source = {
  ...{ name: text, uid, access: { enum: ["proxy", "direct"] } },
  ...{ url: { type: "string", pattern: "^http://[a-z]+:\\d+$" }, "isDefault?": flag },
};

export const datasourcesSchema = only({
  apiVersion: { const: 1 },
  datasources: list({
    oneOf: [
      only({ ...source, type: { const: "tempo" } }),
      only({
        ...source,
        type: { const: "prometheus" },
        jsonData: only({
          timeInterval: duration,
          exemplarTraceIdDestinations: list(only({ name: text, datasourceUid: uid })),
        }),
      }),
    ],
  }),
});

export const providersSchema = only({
  apiVersion: { const: 1 },
  providers: list(
    only({ name: text, folder: text, type: { const: "file" }, options: only({ path }) }),
  ),
});

const datasource = only({ type: { const: "prometheus" }, uid: text });
const gridPos = only({
  x: { type: "integer", minimum: 0, maximum: 23 },
  y: { type: "integer", minimum: 0 },
  w: { type: "integer", minimum: 1, maximum: 24 },
  h: { type: "integer", minimum: 1 },
});
const target = open({
  refId: { type: "string", pattern: "^[A-Z]$" },
  expr: text,
  "range?": flag,
  "exemplar?": flag,
});

const link = open({
  type: { enum: ["link", "dashboards"] },
  title: text,
  "url?": { type: "string", pattern: "^(/explore\\?|\\$\\{console\\}(#/[a-z-]+)?$)" },
});
const annotation = open({
  name: text,
  datasource,
  enable: flag,
  iconColor: text,
  expr: text,
  titleFormat: text,
  textFormat: text,
  useValueForTime: flag,
});
const panel = { title: text, description: text, gridPos, datasource, "links?": list(link) };
const thresholds = only({
  mode: { const: "absolute" },
  steps: list(only({ value: { type: ["number", "null"] }, color: text })),
});

/** The classic model. Grafana's library adds further properties. */
export const dashboardSchema = open({
  uid,
  title: text,
  schemaVersion: { type: "integer", minimum: 36 },
  time: only({ from: text, to: text }),
  templating: only({
    list: list(open({ type: { enum: ["datasource", "query", "textbox"] }, name: text })),
  }),
  links: list(link),
  annotations: only({ list: list(annotation) }),
  panels: list({
    oneOf: [
      open({ ...panel, type: { const: "timeseries" }, targets: list(target) }),
      open({
        ...{ ...panel, type: { const: "stat" }, targets: list(target) },
        fieldConfig: open({ defaults: open({ unit: text, thresholds }) }),
      }),
      open({
        ...{ ...panel, type: { const: "heatmap" } },
        options: open({ yAxis: open({ unit: text }) }),
        targets: list({ allOf: [target, open({ format: { const: "heatmap" } })] }),
      }),
    ],
  }),
});
