/** The scheduler as a process: the shards that the bus gives it. More processes share them. */
import { hash } from "node:crypto";
import { openBus, openDocuments, openTokens } from "@posthaste/distributed";
import { countedMax } from "@posthaste/ports";
import { configSchemas, processParts, readConfig, runServiceProcess } from "@posthaste/runtime";
import { Scheduler } from "./scheduler.ts";

const config = readConfig(configSchemas.scheduler);
const parts = processParts("scheduler", config);
const documents = await openDocuments(parts, config);
const bus = await openBus(parts, config);
const tokens = openTokens(parts, config);
const { clock, ports } = documents;
const { telemetry } = parts;

telemetry.metrics.watch("posthaste_lane_depth", () => ports.sizes.waiting(countedMax));

await runServiceProcess(parts, {
  adapters: [tokens, bus, documents],
  services: [
    documents.answering,
    new Scheduler({
      ...ports,
      bus,
      tokens,
      clock,
      log: parts.log,
      telemetry,
      sha256: (value) => hash("sha256", value, "hex"),
    }),
  ],
});
