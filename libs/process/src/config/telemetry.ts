/** Metrics that are read, and signals that are sent. All are off until they are configured. */
import { z } from "zod";
import { variables } from "./variable.ts";
import { printable, wholeNumber } from "./values.ts";

const subject = "Telemetry";
const portMax = 65_535;
const metricsTokenLengthMin = 16;
const urlLengthMax = 2_048;

const endpointRule = "an http:// or https:// address without user and query";
const endpoint = () =>
  z
    .url({ protocol: /^https?$/ })
    .max(urlLengthMax)
    .refine((text) => !text.includes("@") && !text.includes("?"))
    .optional();

const whole = (signal: string) =>
  endpoint().register(variables, {
    ...{ subject, rule: endpointRule },
    summary: `The whole address to which ${signal} are sent, instead of one below \`OTEL_EXPORTER_OTLP_ENDPOINT\`.`,
  });

const exporter = (signal: string) =>
  z
    .enum(["otlp", "none"])
    .optional()
    .register(variables, {
      subject,
      rule: "otlp or none",
      summary: `Whether ${signal} are sent. Not set: sent if an endpoint of the OpenTelemetry standard is set. \`otlp\` without an endpoint: sent to \`POSTHASTE_OTLP_ENDPOINT\`, or \`http://localhost:4318\`.`,
    });

const intervalMsMin = 100;
const intervalMsMax = 3_600_000;

/** The variables of OpenTelemetry's standard for whether, where and how often to send. The exporters read the headers and certificates. */
const standardShape = {
  otelSdkDisabled: z.enum(["true", "false"]).optional().register(variables, {
    subject,
    rule: "true or false",
    summary: "`true`: nothing is sent, regardless of the other variables.",
  }),
  otelExporterOtlpEndpoint: endpoint().register(variables, {
    ...{ subject, rule: endpointRule },
    summary:
      "Metrics, logs, and traces without `POSTHASTE_OTLP_ENDPOINT`, are sent to `/v1/metrics`, `/v1/logs` and `/v1/traces` below it, as OTLP over HTTP. Not set: nothing is sent.",
  }),
  otelExporterOtlpProtocol: z.enum(["http/json", "http/protobuf"]).optional().register(variables, {
    subject,
    rule: "http/json or http/protobuf",
    summary:
      "The encoding over HTTP. Not set: JSON, which every collector of OTLP over HTTP takes. gRPC is not supported.",
  }),
  otelExporterOtlpTracesEndpoint: whole("traces"),
  otelExporterOtlpMetricsEndpoint: whole("metrics"),
  otelExporterOtlpLogsEndpoint: whole("lines of the log"),
  otelTracesExporter: exporter("traces"),
  otelMetricsExporter: exporter("metrics"),
  otelLogsExporter: exporter("lines of the log"),
  otelMetricExportInterval: wholeNumber(intervalMsMin, intervalMsMax, {
    subject,
    summary: "How many milliseconds pass between two sends of metrics.",
    default: "60000",
  }),
};

export const telemetryShape = {
  metricsPort: wholeNumber(0, portMax, {
    subject,
    summary:
      "The port of `/metrics` for Prometheus, on the address of `POSTHASTE_HOST`. 0: any free port. Not set: metrics are not served.",
  }).optional(),
  metricsToken: printable(metricsTokenLengthMin, 255, {
    subject,
    secret: true,
    rule: `${metricsTokenLengthMin} to 255 printable ASCII characters without spaces`,
    summary:
      "The token that reads `/metrics`: `Authorization: Bearer …`. Not set: no token is needed.",
  }).optional(),
  otlpEndpoint: endpoint().register(variables, {
    ...{ subject, rule: endpointRule },
    summary:
      "Traces are sent to `/v1/traces` below it, as OTLP over HTTP. Not set: nothing is traced, unless a variable of OpenTelemetry's standard says so.",
  }),
  traceRatio: z
    .string()
    .regex(/^(0|1|0?\.\d{1,9}|1\.0)$/)
    .transform(Number)
    .register(variables, {
      subject,
      rule: "a number from 0 to 1",
      summary:
        "The fraction of messages that are traced from their publish. A publish with a `traceparent` follows the flag in it. A failed attempt and its retries are always traced.",
      default: "0.01",
    }),
  ...standardShape,
};
