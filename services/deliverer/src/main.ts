/** The deliverer as a process: claims, calls, settles. More processes share the messages. */
import { hash } from "node:crypto";
import { openBus, openDocuments, openTokens } from "@posthaste/distributed";
import { owner } from "@posthaste/domain";
import { Tenants } from "@posthaste/engine";
import { retryDelays } from "@posthaste/engine/retry-delay";
import {
  configSchemas,
  destinationPolicyOf,
  processParts,
  readConfig,
  runServiceProcess,
} from "@posthaste/runtime";
import { senderOf } from "@posthaste/sender";
import { createCompose } from "./compose.ts";
import { Deliverer } from "./deliverer.ts";
import { Standby } from "./standby.ts";

const config = readConfig(configSchemas.deliverer);
const parts = processParts("deliverer", config);
const { drainMs, log, random, telemetry } = parts;
const documents = await openDocuments(parts, config);
const bus = await openBus(parts, config);
const tokens = openTokens(parts, config);
const { clock } = documents;
const sender = senderOf(config, destinationPolicyOf(config), parts.clock);

const ports = {
  ...documents.ports,
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
const tenants = new Tenants(ports);
const deliverer = new Deliverer(ports, {
  owner: owner(random.text(12)),
  slots: {
    shortMax: config.maxInFlight,
    perOriginMax: config.maxPerOrigin,
    longMax: Math.ceil(config.maxInFlight / 2),
  },
  compose: createCompose({ tenantOf: (id) => tenants.get(id), random }),
  drainMs,
});

await runServiceProcess(parts, {
  adapters: [sender, tokens, bus, documents],
  services: [
    documents.answering,
    tenants,
    deliverer,
    new Standby(ports, (hints) => deliverer.hear(hints)),
  ],
});
