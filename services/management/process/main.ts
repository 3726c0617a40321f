/** Management as a process. Its first start makes the first tenant, for which the gateways wait. */
import { openDocuments } from "@posthaste/distributed";
import { addressSet, createSessions, type RequestHandler } from "@posthaste/http";
import { managementHandler, seedAccounts } from "@posthaste/management";
import { operatorSignIn } from "@posthaste/oidc";
import { untilAvailable } from "@posthaste/ports";
import {
  configSchemas,
  operatorsOf,
  processParts,
  readConfig,
  runServiceProcess,
} from "@posthaste/process";

const config = readConfig(configSchemas.management);
const parts = processParts("management", config);
const { log, random } = parts;
const documents = await openDocuments(parts, config);
const { clock, ports } = documents;

let handler: RequestHandler | undefined;
await runServiceProcess(parts, {
  adapters: [documents],
  handler: (req, res) => handler?.(req, res),
  services: [
    documents.answering,
    { name: "first tenant", start: seed, stop: async () => undefined },
    { name: "management", start: open, stop: async () => undefined },
  ],
});

async function open(): Promise<void> {
  const secret = await untilAvailable(clock, () =>
    ports.accounts.secret("sessions", () => random.text(43)),
  );
  const sessions = createSessions({ audience: "operator", secret, clock, random });
  handler = managementHandler(
    { ...ports, clock, log, random },
    {
      operators: operatorsOf(config) ?? [],
      ...(config.console !== "off" && {
        console: { folder: config.console, sessions, oidc: operatorSignIn(config) },
      }),
      trustedProxies: addressSet(config.trustedProxies),
      auditDays: config.auditDays,
    },
  );
}

async function seed(): Promise<void> {
  const { accounts } = ports;
  await untilAvailable(clock, documents.sealStored);
  const { warning } = await untilAvailable(clock, () => seedAccounts({ accounts, clock, config }));
  if (warning !== undefined) log.warn("accounts.differ", { reason: warning });
}
