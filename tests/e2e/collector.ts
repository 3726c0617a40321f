/** A collector for tests: takes OTLP over HTTP with JSON, as a real one would, and keeps spans, metrics and lines of the log. */
import { createServer } from "node:http";
import { eventually } from "./client.ts";
import { type Json, listOf, objectOf, textOf } from "./json.ts";
import { close, listen } from "./loopback.ts";

export type CollectedSpan = {
  readonly service: string;
  readonly name: string;
  /** OTLP's number: 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: unknown;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly links: readonly string[];
  readonly attributes: Readonly<Record<string, string>>;
  /** 2 is an error. */
  readonly status: unknown;
};

type CollectedMetric = {
  readonly service: string;
  readonly name: string;
  readonly type: "sum" | "gauge" | "histogram";
  /** By the value of the label, or by the empty text if there is none. For a histogram, the count. */
  readonly values: Readonly<Record<string, number>>;
};

export type CollectedLine = {
  readonly service: string;
  readonly event: string;
  readonly level: string;
  readonly traceId: string | undefined;
  readonly spanId: string | undefined;
  readonly attributes: Readonly<Record<string, string>>;
};

export type Collector = {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  /** The metrics of each process that came last, by service and name. */
  readonly metrics: ReadonlyMap<string, CollectedMetric>;
  readonly lines: readonly CollectedLine[];
  /** Returns every byte received, headers included. */
  readonly received: () => string;
  /** Resolves as soon as `test` holds for all spans so far. */
  until(test: (spans: readonly CollectedSpan[]) => boolean): Promise<readonly CollectedSpan[]>;
  stop(): Promise<void>;
};

const waitMsMax = 60_000;

export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const metrics = new Map<string, CollectedMetric>();
  const lines: CollectedLine[] = [];
  let received = "";
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString();
      received += `${request.method} ${request.url} ${JSON.stringify(request.headers)} ${text}\n`;
      const body = objectOf(JSON.parse(text));
      if (request.url === "/v1/traces") spans.push(...spansIn(body));
      if (request.url === "/v1/logs") lines.push(...linesIn(body));
      if (request.url === "/v1/metrics")
        for (const metric of metricsIn(body))
          metrics.set(`${metric.service} ${metric.name}`, metric);
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    metrics,
    lines,
    received: () => received,
    until: (test) => eventually(() => Promise.resolve(spans), test, waitMsMax),
    stop: () => close(server),
  };
}

const spansIn = (body: Json): readonly CollectedSpan[] =>
  itemsIn(body, ["resourceSpans", "scopeSpans", "spans"], spanFrom);
const linesIn = (body: Json): readonly CollectedLine[] =>
  itemsIn(body, ["resourceLogs", "scopeLogs", "logRecords"], lineFrom);
const metricsIn = (body: Json): readonly CollectedMetric[] =>
  itemsIn(body, ["resourceMetrics", "scopeMetrics", "metrics"], metricFrom);

function itemsIn<T>(
  body: Json,
  [resources, scopes, items]: readonly [string, string, string],
  from: (service: string, item: Json) => T,
): readonly T[] {
  return listOf(body[resources]).flatMap((resource) => {
    const { "service.name": service = "" } = attributesOf(objectOf(resource["resource"]));
    return listOf(resource[scopes]).flatMap((scope) =>
      listOf(scope[items]).map((item) => from(service, item)),
    );
  });
}

function metricFrom(service: string, metric: Json): CollectedMetric {
  const type = (["sum", "gauge", "histogram"] as const).find((one) => one in metric);
  if (type === undefined) throw new Error(`no metric: ${JSON.stringify(metric)}`);
  const { dataPoints } = objectOf(metric[type]);
  const values = listOf(dataPoints).map((point): [string, number] => [
    Object.values(attributesOf(point)).join(),
    Number(point["asDouble"] ?? point["asInt"] ?? point["count"]),
  ]);
  return { service, name: textOf(metric["name"]), type, values: Object.fromEntries(values) };
}

const lineFrom = (service: string, line: Json): CollectedLine => ({
  service,
  event: textOf(objectOf(line["body"])["stringValue"]),
  level: textOf(line["severityText"]),
  traceId: someText(line["traceId"]),
  spanId: someText(line["spanId"]),
  attributes: attributesOf(line),
});

const someText = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

function spanFrom(service: string, span: Json): CollectedSpan {
  return {
    service,
    name: textOf(span["name"]),
    kind: span["kind"],
    traceId: textOf(span["traceId"]),
    spanId: textOf(span["spanId"]),
    parentSpanId: someText(span["parentSpanId"]),
    links: listOf(span["links"] ?? []).map(({ traceId }) => textOf(traceId)),
    attributes: attributesOf(span),
    status: objectOf(span["status"])["code"],
  };
}

/** Turns `[{key, value: {stringValue | intValue | boolValue}}]` into texts. */
const attributesOf = (holder: Json): Readonly<Record<string, string>> =>
  Object.fromEntries(
    listOf(holder["attributes"]).map((attribute) => {
      const [value] = Object.values(objectOf(attribute["value"]));
      return [textOf(attribute["key"]), String(value)];
    }),
  );
