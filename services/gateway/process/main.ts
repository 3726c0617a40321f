/** The gateway as a process: publishes and reads, over the stores and the bus that the environment names. */
import { hash } from "node:crypto";
import { openBus, openDocuments, openTokens } from "@posthaste/distributed";
import { createLogWatchers, gatewayHandler } from "@posthaste/gateway";
import { NamedDeliverers } from "@posthaste/engine";
import {
  addressSet,
  createAdmission,
  createAnswers,
  createAuthenticator,
  createCursors,
  createSessions,
  type RequestHandler,
} from "@posthaste/http";
import { untilAvailable } from "@posthaste/ports";
import {
  configSchemas,
  destinationPolicyOf,
  meteredRuns,
  processParts,
  readConfig,
  runServiceProcess,
} from "@posthaste/process";
import { tenantSignIn } from "@posthaste/oidc";
import { retryDelays } from "@posthaste/retry-delays-mathjs";

const config = readConfig(configSchemas.gateway);
const parts = processParts("gateway", config);
const { log, random, readiness, telemetry } = parts;
const documents = await openDocuments(parts, config);
const bus = await openBus(parts, config);
const tokens = openTokens(parts, config);
const { clock, ports } = documents;

const answers = createAnswers({ log, random, clock });
const admission = createAdmission({ clock, random, storeWaitMs: documents.waitMs });
const authenticator = createAuthenticator({ accounts: ports.accounts, clock, log });
const named = new NamedDeliverers({
  ...{ bus, clock, log, metrics: telemetry.metrics, roster: ports.roster },
  planOf: (tenant) => authenticator.planOf(tenant),
});
readiness.watch("accounts", "needed", () =>
  authenticator.knowsAnybody()
    ? undefined
    : "there is no account yet: start management, which makes the first",
);

const watchers = createLogWatchers({ ...ports, clock, log }, parts.sockets.connections);

let handler: RequestHandler | undefined;
await runServiceProcess(parts, {
  adapters: [tokens, bus, documents],
  handler: (req, res) => handler?.(req, res),
  services: [
    documents.answering,
    { name: "admission", start: async () => undefined, stop: async () => admission.close() },
    authenticator,
    ...(config.kafkaBodies ? [named] : []),
    { name: "gateway", start: open, stop: async () => undefined },
    watchers,
  ],
});

async function open(): Promise<void> {
  const secretOf = (name: string): Promise<string> =>
    untilAvailable(clock, () => ports.accounts.secret(name, () => random.text(43)));
  const secret = await secretOf("cursors");
  const sessions = createSessions({
    ...{ audience: "tenant", clock, random },
    secret: await secretOf("sessions"),
  });
  handler = gatewayHandler(
    {
      ...ports,
      runs: meteredRuns(ports.runs, telemetry.metrics),
      bus,
      tokens,
      ...(config.kafkaBodies && { named }),
      clock,
      random,
      log,
      telemetry,
      retryDelays: retryDelays({ loadedAhead: config.profile === "production" }),
      sha256: (value) => hash("sha256", value, "hex"),
    },
    {
      policy: destinationPolicyOf(config),
      llmUrl: config.llmUrl,
      ...(config.console !== "off" && {
        console: { folder: config.console, sessions, oidc: tenantSignIn(config) },
      }),
      trustedProxies: addressSet(config.trustedProxies),
      auditDays: config.auditDays,
      authenticator,
      refreshAccounts: () => authenticator.refresh(),
      answers,
      admission,
      cursors: createCursors({ secret, clock }),
      watchers,
    },
  );
}
