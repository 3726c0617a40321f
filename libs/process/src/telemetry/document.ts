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

Every process can show metrics and send traces, metrics and logs. All are off until they are asked for, and cost nothing then: see
*Telemetry* in [configuration.md](configuration.md). No label, span or attribute holds a token, a header, a body, or the
path or query of a URL.`;

const metricsHead = `## Metrics

\`POSTHASTE_METRICS_PORT\` opens a listener of its own, on the address of \`POSTHASTE_HOST\`, that answers
\`GET /metrics\` in Prometheus' text format and nothing else. With \`POSTHASTE_METRICS_TOKEN\` it wants that token, as
\`Authorization: Bearer …\`, and answers 401 without it; without the variable, let only Prometheus reach it.
A collector that asks for OpenMetrics, as Prometheus does, gets that: with *exemplars*, which lead from a bucket of
\`posthaste_delivery_latency_seconds\` or \`posthaste_run_delivery_wait_seconds\` to the trace of the last message in it
that is traced (label \`trace_id\`). Prometheus keeps them with \`--enable-feature=exemplar-storage\`. What shows all this:
[observability.md](observability.md).`;

const metricsNotes = `Counters and histograms begin at 0 with the process. What is *watched* (gauges, and counters that someone else keeps)
is asked for when it is scraped, a gauge at most once in five seconds, so it may be so much older than it looks; what is
not answered within two seconds, or cannot be, has no line. \`posthaste_lane_depth\`, \`posthaste_queue_depth\`, \`posthaste_dead_letters\`,
\`posthaste_runs_active\` and \`posthaste_runs_waiting\` are counted in the store along an index, up to 100000, and are the same whoever tells them: \`max\`, not \`sum\`.
\`posthaste_queue_oldest_turn_seconds\` is the same whoever tells it, too. \`posthaste_oldest_past_due_seconds\` is of each scheduler's own shards: \`max\` as well.`;

const traces = `## Traces

\`POSTHASTE_OTLP_ENDPOINT\` names a collector; spans go to \`/v1/traces\` below it as OTLP over HTTP, as JSON unless \`OTEL_EXPORTER_OTLP_PROTOCOL\` says \`http/protobuf\`, every second,
at most 256 at a time. 2048 wait at the most; what is beyond is dropped, as is what the collector does not take: a line
is logged when that begins and when it ends. A process that stops sends what is left for two seconds.

What is sampled is decided once, at the publish. A \`traceparent\` that comes with it is continued when its flag says
sampled, and nothing is traced when it says not; without one \`POSTHASTE_TRACE_RATIO\` of the messages are. A message keeps
the \`traceparent\` of what made it, in every store and as long as it lives; group children have their publish's, callbacks
that of the span that made them. A delivery carries the \`traceparent\` of its attempt, unless the publisher forwards one.

**A failed attempt is always traced**, whatever the part of the messages that are. A message that was not sampled is traced from the
attempt that fails: that attempt begins a trace, and the retries are part of it. The trace follows from the message's id, so every process
continues the same one. There are only attempts in it: no publish, claim or callback ([ADR 199](adr/0199-failed-attempts-are-always-traced.md)).

| Span | Kind | Of | Part of | Attributes |
| --- | --- | --- | --- | --- |
| \`publish\` | server | gateway | the caller's trace, or begins one | \`posthaste.tenant\`, \`posthaste.body.bytes\`, \`posthaste.message.id\`, \`posthaste.deduplicated\`; to a group \`posthaste.endpoints\`; of a trigger \`posthaste.run.id\`; of a step of a run that, \`posthaste.run.part\`, and \`posthaste.run.step\`, its name |
| \`request\` | server | gateway, of every other endpoint and of webhooks, once the caller is known | the caller's trace, or begins one | \`posthaste.tenant\`, \`http.request.method\`, \`http.route\`, \`http.response.status_code\` |
| \`schedule\` | producer | scheduler, for each slot that fires | begins one | \`posthaste.tenant\`, \`posthaste.schedule.id\`, \`posthaste.message.id\` |
| \`claim\` | internal | deliverer | the message's trace | \`posthaste.message.id\`, \`posthaste.epoch\`, \`posthaste.batch.size\` |
| \`attempt\` | client | deliverer | the message's trace; of a failure begins one | \`posthaste.tenant\`, \`posthaste.message.id\`, \`posthaste.retried\`, \`posthaste.epoch\`, \`posthaste.outcome\`, \`http.request.method\`, \`http.response.status_code\`, \`server.address\`, \`server.port\` |
| \`callback\` | producer | callback-dispatcher, or the scheduler when that was away | the trace of the message that it tells of | \`posthaste.tenant\`, \`posthaste.message.id\`, \`posthaste.source.id\` |
| \`bus.handle\` | consumer | who hears a Kafka event | the publish, attempt or callback that said it | |

A first attempt and its retries stand beside each other below the publish. What comes more than ten minutes after a
message was accepted begins a trace of its own, with a link to the message's: backends put a trace together from what
comes within minutes. What a batch publishes is part of its request's trace. All deliveries of a run, what it calls and the
runs that it invokes are part of the trace of its start, whatever its endpoint sends with its steps; of a run, the ten
minutes begin with its start. Claims and attempts of a run have \`posthaste.run.id\` and \`posthaste.run.part\`: \`start\`, or by role and step \`s2\`
(its result is delivered), \`p2\` (its plan), \`c2\` (a call) and \`a2\` (what that was answered); \`posthaste.run.step\` is the step's name. The publish of an invocation has \`v2\`. What its endpoint publishes
for a step is a trace of its own, or part of the caller's, with a link to the run's. A line of the log that is written inside a trace has it as \`traceId\`, with \`spanId\`. In the standalone a message that is due is claimed by its own insert, without a \`claim\`; a retry
has one. Where the insert has claimed it for a deliverer that the gateway named, its \`claim\` lasts from its acceptance until
that deliverer has heard of it: the hop over the bus. The log hears of such a message from its attempt. Kafka events carry \`traceparent\` as a header; hints of the scheduler carry none.

OpenTelemetry's SDK is loaded only where something is sent. It detects nothing and instruments nothing. The resource says \`service.name\`
(\`posthaste-gateway\` …), \`service.namespace\`, \`service.version\` and \`service.instance.id\`, which a process draws at its start, and nothing of
the host but what \`OTEL_RESOURCE_ATTRIBUTES\` and \`OTEL_SERVICE_NAME\` say.

## OpenTelemetry for metrics and logs, too

| to send | set |
| --- | --- |
| traces | \`POSTHASTE_OTLP_ENDPOINT\` |
| traces, metrics and logs | \`OTEL_EXPORTER_OTLP_ENDPOINT\`; \`OTEL_LOGS_EXPORTER=none\` leaves one out |
| metrics or logs as well as traces | \`OTEL_METRICS_EXPORTER=otlp\`, \`OTEL_LOGS_EXPORTER=otlp\` beside \`POSTHASTE_OTLP_ENDPOINT\` |

**Metrics** have the names, labels and buckets of the table above, cumulative, once a minute (\`OTEL_METRIC_EXPORT_INTERVAL\`) and once more when a process
stops; \`POSTHASTE_METRICS_PORT\` may be open beside them, or not. Exemplars are for Prometheus alone.
**Logs** are copies of the lines that a process writes, at \`POSTHASTE_LOG_LEVEL\` and above: the event is the body, the fields are attributes, and a line inside a
trace carries the trace and the span. The lines at the standard output stay, and are the ones to trust: what a process writes in its last moment is there only.
Nothing is logged for each message unless the level is \`debug\`.

Headers, certificates and compression are the exporters' own variables: \`OTEL_EXPORTER_OTLP_HEADERS\`, \`_CERTIFICATE\`, \`_COMPRESSION\`,
also for one signal (\`OTEL_EXPORTER_OTLP_LOGS_HEADERS\`). A collector that does not take a signal costs a line, \`metrics.refused\` or \`logs.refused\`,
and one when it is back; 2048 lines wait, what is beyond is dropped.`;

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
