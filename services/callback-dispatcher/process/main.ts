/** The callback-dispatcher as a process: makes the messages of callbacks. */
import { hash } from "node:crypto";
import { CallbackDispatcher } from "@posthaste/callback-dispatcher";
import { openBus, openDocuments } from "@posthaste/distributed";
import {
  configSchemas,
  meteredRuns,
  processParts,
  readConfig,
  runServiceProcess,
} from "@posthaste/process";

const config = readConfig(configSchemas["callback-dispatcher"]);
const parts = processParts("callback-dispatcher", config);
const documents = await openDocuments(parts, config);
const bus = await openBus(parts, config);
const { clock, ports } = documents;

await runServiceProcess(parts, {
  adapters: [bus, documents],
  services: [
    documents.answering,
    new CallbackDispatcher({
      ...ports,
      runs: meteredRuns(ports.runs, parts.telemetry.metrics),
      bus,
      clock,
      log: parts.log,
      telemetry: parts.telemetry,
      sha256: (value) => hash("sha256", value, "hex"),
    }),
  ],
});
