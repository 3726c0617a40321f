/** The workflow-log as a process: writes the message log from events on the bus. */
import { openBus, openDocuments } from "@posthaste/distributed";
import { countedMax } from "@posthaste/ports";
import { configSchemas, processParts, readConfig, runServiceProcess } from "@posthaste/process";
import { WorkflowLog } from "@posthaste/workflow-log";

const config = readConfig(configSchemas["workflow-log"]);
const parts = processParts("workflow-log", config);
const documents = await openDocuments(parts, config);
const bus = await openBus(parts, config);
const { clock, ports } = documents;
const { metrics } = parts.telemetry;

metrics.watch("posthaste_dead_letters", () => ports.sizes.deadLetters(countedMax));

await runServiceProcess(parts, {
  adapters: [bus, documents],
  services: [
    documents.answering,
    new WorkflowLog(
      { ...ports, bus, clock, log: parts.log },
      { diskShareMax: config.keptBodiesDiskPercent / 100 },
    ),
  ],
});
