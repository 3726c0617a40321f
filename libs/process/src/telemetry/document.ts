/** Renders `docs/telemetry.md`: the metrics from their catalogue, and a text about traces. */
import { type Metric, metricCatalogue, type Reporter } from "@posthaste/ports";
import { typeOf } from "./exposition.ts";

export const renderTelemetry = (): string =>
  [
    introduction,
    metricsHead,
    ["| Metric | Type | Label | By |", "| --- | --- | --- | --- |", ...rows()].join("\n"),
    metricsNotes,
    traces,
  ].join("\n\n");

const introduction = `# Telemetry

Made from the catalogue in \`libs/ports/src/metrics\` by \`npm run generate\`.

Every process can show metrics and send traces, metrics and logs. All are off by default, and cost nothing while off: see
*Telemetry* in [configuration.md](configuration.md). No label, span or attribute holds a token, a header, a body, or the
path or query of a URL.`;

const metricsHead = `## Metrics

\`POSTHASTE_METRICS_PORT\` opens a listener of its own, on the address of \`POSTHASTE_HOST\`, that answers
\`GET /metrics\` in Prometheus' text format and nothing else. With \`POSTHASTE_METRICS_TOKEN\` it requires that token, as
\`Authorization: Bearer …\`, and answers 401 without it; without the variable, let only Prometheus reach it.
A collector that asks for OpenMetrics, as Prometheus does, gets it, with *exemplars*, which lead from a bucket of
\`posthaste_delivery_latency_seconds\` or \`posthaste_run_delivery_wait_seconds\` to the trace of the last message in it
that is traced (label \`trace_id\`). Prometheus keeps them with \`--enable-feature=exemplar-storage\`. Dashboards and alerts:
[observability.md](observability.md).`;

const metricsNotes = `Counters and histograms begin at 0 with the process. Gauges, and counters kept elsewhere, are read
at a scrape, a gauge at most once in five seconds, so its value may be up to five seconds old; a value that is
not read within two seconds has no line. \`posthaste_lane_depth\`, \`posthaste_queue_depth\`, \`posthaste_dead_letters\`,
\`posthaste_runs_active\` and \`posthaste_runs_waiting\` are counted in the store along an index, up to 100000, and each process reports the same value: use \`max\`, not \`sum\`.
\`posthaste_queue_oldest_turn_seconds\` is the same from each process, too. \`posthaste_oldest_past_due_seconds\` covers each scheduler's own shards: use \`max\` as well.`;

const traces = `## Traces

\`POSTHASTE_OTLP_ENDPOINT\` names a collector; spans go to \`/v1/traces\` below it as OTLP over HTTP, as JSON unless \`OTEL_EXPORTER_OTLP_PROTOCOL\` says \`http/protobuf\`, every second,
at most 256 at a time. At most 2048 spans wait; further spans are dropped, as are spans that the collector refuses: a line
is logged when dropping begins and when it ends. A process that stops sends the waiting spans for up to two seconds.

Sampling is decided once, at the publish. A \`traceparent\` of the publish is continued when its flag says
sampled, and nothing is traced when the flag says not sampled; without a \`traceparent\` the fraction \`POSTHASTE_TRACE_RATIO\` of messages is traced. A message keeps
the \`traceparent\` of its maker, in every store and as long as it lives; group children have the one of their publish, callbacks
the one of the span that made them. A delivery carries the \`traceparent\` of its attempt, unless the publisher forwards one.

**A failed attempt is always traced**, regardless of the sampling. A message that was not sampled is traced from the
attempt that fails: that attempt begins a trace, and the retries are part of it. The trace id follows from the message's id, so every process
continues the same trace. It has only attempts: no publish, claim or callback ([ADR 199](adr/0199-failed-attempts-are-always-traced.md)).

| Span | Kind | Of | Part of | Attributes |
| --- | --- | --- | --- | --- |
| \`publish\` | server | gateway | the caller's trace, or begins one | \`posthaste.tenant\`, \`posthaste.body.bytes\`, \`posthaste.message.id\`, \`posthaste.deduplicated\`; to a group \`posthaste.endpoints\`; of a trigger \`posthaste.run.id\`; of a step of a run that, \`posthaste.run.part\`, and \`posthaste.run.step\`, its name |
| \`request\` | server | gateway, of every other endpoint and of webhooks, once the caller is known | the caller's trace, or begins one | \`posthaste.tenant\`, \`http.request.method\`, \`http.route\`, \`http.response.status_code\` |
| \`schedule\` | producer | scheduler, for each slot that fires | begins one | \`posthaste.tenant\`, \`posthaste.schedule.id\`, \`posthaste.message.id\` |
| \`claim\` | internal | deliverer | the message's trace | \`posthaste.message.id\`, \`posthaste.epoch\`, \`posthaste.batch.size\` |
| \`attempt\` | client | deliverer | the message's trace; of a failure begins one | \`posthaste.tenant\`, \`posthaste.message.id\`, \`posthaste.retried\`, \`posthaste.epoch\`, \`posthaste.outcome\`, \`http.request.method\`, \`http.response.status_code\`, \`server.address\`, \`server.port\` |
| \`callback\` | producer | callback-dispatcher, or the scheduler when that was away | the trace of the message that it reports | \`posthaste.tenant\`, \`posthaste.message.id\`, \`posthaste.source.id\` |
| \`bus.handle\` | consumer | each process that receives a Kafka event | the publish, attempt or callback that published the event | |

A first attempt and its retries are siblings below the publish. A span that begins more than ten minutes after a
message was accepted begins a trace of its own, with a link to the message's trace: backends assemble a trace from spans that
arrive within minutes. Messages of a batch are part of the trace of its request. All deliveries of a run, its calls and the
runs that it invokes are part of the trace of its start, regardless of headers that its endpoint sends with its steps; for a run, the ten
minutes begin with its start. Claims and attempts of a run have \`posthaste.run.id\` and \`posthaste.run.part\`: \`start\`, or by role and step \`s2\`
(its result is delivered), \`p2\` (its plan), \`c2\` (a call) and \`a2\` (the answer to the call); \`posthaste.run.step\` is the step's name. The publish of an invocation has \`v2\`. A publish by its endpoint
for a step is a trace of its own, or part of the caller's, with a link to the run's trace. A line of the log that is written inside a trace has the trace as \`traceId\`, with \`spanId\`. In the standalone a message that is due is claimed by its own insert, without a \`claim\`; a retry
has one. If the insert has claimed the message for a deliverer that the gateway named, its \`claim\` lasts from its acceptance until
that deliverer has heard of it: the hop over the bus. The log hears of such a message from its attempt. Kafka events carry \`traceparent\` as a header; hints of the scheduler carry none.

OpenTelemetry's SDK is loaded only if something is sent. It detects nothing and instruments nothing. The resource has \`service.name\`
(\`posthaste-gateway\` …), \`service.namespace\`, \`service.version\` and \`service.instance.id\`, which a process draws at its start, and of
the host only the values of \`OTEL_RESOURCE_ATTRIBUTES\` and \`OTEL_SERVICE_NAME\`.

## OpenTelemetry for metrics and logs, too

| to send | set |
| --- | --- |
| traces | \`POSTHASTE_OTLP_ENDPOINT\` |
| traces, metrics and logs | \`OTEL_EXPORTER_OTLP_ENDPOINT\`; \`OTEL_LOGS_EXPORTER=none\` leaves one out |
| metrics or logs as well as traces | \`OTEL_METRICS_EXPORTER=otlp\`, \`OTEL_LOGS_EXPORTER=otlp\` beside \`POSTHASTE_OTLP_ENDPOINT\` |

**Metrics** have the names, labels and buckets of the table above, cumulative, once a minute (\`OTEL_METRIC_EXPORT_INTERVAL\`) and once more when a process
stops; \`POSTHASTE_METRICS_PORT\` may be open beside them, or not. Exemplars are for Prometheus alone.
**Logs** are copies of the lines that a process writes, at \`POSTHASTE_LOG_LEVEL\` and above: the event is the body, the fields are attributes, and a line inside a
trace carries the trace and the span. The lines at the standard output remain, and are complete: the last lines of a dying process are only there.
Nothing is logged for each message unless the level is \`debug\`.

Headers, certificates and compression are the exporters' own variables: \`OTEL_EXPORTER_OTLP_HEADERS\`, \`_CERTIFICATE\`, \`_COMPRESSION\`,
also for one signal (\`OTEL_EXPORTER_OTLP_LOGS_HEADERS\`). A collector that refuses a signal causes a line, \`metrics.refused\` or \`logs.refused\`,
and another when it accepts the signal again; 2048 lines wait, further ones are dropped.`;

const rows = (): readonly string[] =>
  Object.entries<Metric>(metricCatalogue).map(
    ([name, metric]) =>
      `| \`${name}\`<br>${metric.help} | ${typeOf(metric)} | ${labelCell(metric)} | ${byCell(metric.by)} |`,
  );

function labelCell(metric: Metric): string {
  if (metric.kind === "histogram") return "";
  return metric.label ? `\`${metric.label.name}\`: ${listed(metric.label.values)}` : "";
}

const listedMax = 20;
const listed = (values: readonly string[]): string =>
  values.length > listedMax ? `${values.at(0)} to ${values.at(-1)}` : values.join(", ");

const reporterCount = 7;
const byCell = (by: readonly Reporter[]): string =>
  by.length === reporterCount ? "all" : by.join(", ");
