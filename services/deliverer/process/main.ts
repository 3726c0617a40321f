/** The deliverer as a process: claims, calls, settles. More processes share the messages. */
import { hash } from "node:crypto";
import { createCompose, Deliverer, slotBounds } from "@posthaste/deliverer";
import { openBus, openDocuments, openTokens } from "@posthaste/distributed";
import { owner } from "@posthaste/domain";
import { Standby, Tenants } from "@posthaste/engine";
import {
  configSchemas,
  createBusyReading,
  destinationPolicyOf,
  processParts,
  readConfig,
  runServiceProcess,
  meteredRuns,
} from "@posthaste/process";
import { retryDelays } from "@posthaste/retry-delays-mathjs";
import { senderOf } from "@posthaste/sender";

const config = readConfig(configSchemas.deliverer);
const parts = processParts("deliverer", config);
const { drainMs, log, random, telemetry } = parts;
const documents = await openDocuments(parts, config);
const bus = await openBus(parts, config);
const tokens = openTokens(parts, config);
const { clock } = documents;
const sender = senderOf(config, destinationPolicyOf(config), {
  clock: parts.clock,
  connectionsMax: parts.sockets.calls,
  metrics: telemetry.metrics,
});

const tenants = new Tenants({ ...documents.ports, clock, log });
const ports = {
  ...documents.ports,
  tenants,
  runs: meteredRuns(documents.ports.runs, telemetry.metrics),
  bus,
  tokens,
  sender,
  clock,
  random,
  log,
  telemetry,
  retryDelays: retryDelays({ loadedAhead: config.profile === "production" }),
  sha256: (value: string | Uint8Array) => hash("sha256", value, "hex"),
};
/** The share of its time for which the event loop runs from which on publishes may wait (ADR 225). */
const busyShare = 0.75;
const mebibyte = 1024 * 1024;
const minuteMs = 60_000;
const slotLateMsMax = config.scheduleLateMinutes * minuteMs;
const deliverer = new Deliverer(ports, {
  owner: owner(random.text(12)),
  slots: slotBounds(config, parts.sockets.calls),
  bodyBytesMax: config.maxInFlightMib * mebibyte,
  inlineHistoryBytesMax: config.maxInlineHistoryKib * 1024,
  pulledAtStart: () => tenants.ids(),
  compose: createCompose({ random, llmKey: config.llmKey }),
  drainMs,
  isBusy: createBusyReading(busyShare),
});

await runServiceProcess(parts, {
  adapters: [sender, tokens, bus, documents],
  services: [
    documents.answering,
    tenants,
    deliverer,
    new Standby({ ...ports, slotLateMsMax }, (hints) => deliverer.hear(hints)),
  ],
});
