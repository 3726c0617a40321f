/** Metrics to be read and traces to be sent. Both are off until they are configured. */
import { z } from "zod";
import { variables } from "./variable.ts";
import { wholeNumber } from "./values.ts";

const subject = "Telemetry";
const portMax = 65_535;
const urlLengthMax = 2_048;

export const telemetryShape = {
  metricsPort: wholeNumber(0, portMax)
    .optional()
    .register(variables, {
      subject,
      rule: `a whole number from 0 to ${portMax}`,
      summary:
        "Prometheus reads `/metrics` there, without a token, on the address of `POSTHASTE_HOST`. 0: any free port. Not set: nothing is listened on.",
    }),
  otlpEndpoint: z
    .url({ protocol: /^https?$/ })
    .max(urlLengthMax)
    .refine((text) => !text.includes("@") && !text.includes("?"))
    .optional()
    .register(variables, {
      subject,
      rule: "an http:// or https:// address without user and query",
      summary:
        "Traces are sent to `/v1/traces` below it, as OTLP over HTTP with JSON. Not set: nothing is traced. Headers that the collector wants stand in `OTEL_EXPORTER_OTLP_HEADERS`.",
    }),
  traceRatio: z
    .string()
    .regex(/^(0|1|0?\.\d{1,9}|1\.0)$/)
    .transform(Number)
    .register(variables, {
      subject,
      rule: "a number from 0 to 1",
      summary:
        "The part of the messages that are traced from their publish. A publish with a `traceparent` goes by what that says. A failed attempt and its retries are always traced.",
      default: "0.01",
    }),
};
