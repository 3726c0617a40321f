/** The scheduler as a process. Works the shards that the bus gives it; more processes share them. */
import { hash } from "node:crypto";
import { openBus, openDocuments, openTokens } from "@posthaste/distributed";
import { Tenants } from "@posthaste/engine";
import {
  configSchemas,
  meteredRuns,
  processParts,
  readConfig,
  runServiceProcess,
  watchLines,
  watchRuns,
} from "@posthaste/process";
import { Scheduler } from "@posthaste/scheduler";

const config = readConfig(configSchemas.scheduler);
const parts = processParts("scheduler", config);
const documents = await openDocuments(parts, config);
const bus = await openBus(parts, config);
const tokens = openTokens(parts, config);
const { clock, ports } = documents;
const { telemetry } = parts;

watchLines(telemetry.metrics, ports, clock);
watchRuns(telemetry.metrics, ports.sizes, clock);

const minuteMs = 60_000;
const tenants = new Tenants({ accounts: ports.accounts, clock, log: parts.log });

await runServiceProcess(parts, {
  adapters: [tokens, bus, documents],
  services: [
    documents.answering,
    tenants,
    new Scheduler({
      ...ports,
      runs: meteredRuns(ports.runs, telemetry.metrics),
      bus,
      tokens,
      tenants,
      clock,
      log: parts.log,
      telemetry,
      slotLateMsMax: config.scheduleLateMinutes * minuteMs,
      sha256: (value) => hash("sha256", value, "hex"),
    }),
  ],
});
