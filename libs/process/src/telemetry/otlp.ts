/** The parts that the three signals share that are sent to a collector as OTLP over HTTP. Loaded only if one of them is sent. */
import { type ExportResult } from "@opentelemetry/core";
import {
  detectResources,
  type Resource,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from "@opentelemetry/resources";
import { type Log } from "@posthaste/ports";
import { version } from "../version.ts";
import { type OtlpOptions } from "./bounds.ts";

/** Returns only the attributes of the host that `OTEL_RESOURCE_ATTRIBUTES` and `OTEL_SERVICE_NAME` give. */
export function resourceOf({
  instance,
  service,
}: Pick<OtlpOptions, "instance" | "service">): Resource {
  const detectors = [resourceAttributesEnvDetector, serviceNameEnvDetector];
  return resourceFromAttributes({
    "service.name": `posthaste-${service}`,
    "service.namespace": "posthaste",
    "service.instance.id": instance,
    "service.version": version,
  }).merge(detectResources({ detectors }));
}

type Exporter<T> = {
  export(items: T, done: (result: ExportResult) => void): void;
  shutdown(): Promise<void>;
  forceFlush(): Promise<void>;
};

/** Logs one line when the collector goes away and one when it is back: only data that it does not accept is lost. */
export function loggingOutages<T>(
  exporter: Exporter<T>,
  signal: "traces" | "metrics" | "logs",
  log: Log,
): Exporter<T> & { readonly isAway: () => boolean } {
  let isAway = false;
  return {
    isAway: () => isAway,
    export: (items, done) =>
      exporter.export(items, (result) => {
        const failed = result.error !== undefined;
        if (failed && !isAway) log.warn(`${signal}.refused`, { error: result.error });
        if (!failed && isAway) log.info(`${signal}.taken_again`);
        isAway = failed;
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush(),
  };
}
