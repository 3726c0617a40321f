/** Management: administers tenants, tokens, plans, signing keys and the books on search indexes, for one operator. */
import {
  type AddressSet,
  type Answers,
  createAnswers,
  createBodyBudget,
  createEdge,
  createExpressApp,
  type Edge,
  type Readiness,
  type RequestHandler,
} from "@posthaste/runtime";
import { basicChallenge, createOperatorCheck } from "./basic.ts";
import { type Door } from "./door.ts";
import { type ManagementPorts } from "./ports.ts";
import { keyRoutes } from "./routes/keys.ts";
import { searchIndexRoutes } from "./routes/search-indexes.ts";
import { tenantRoutes } from "./routes/tenants.ts";
import { tokenRoutes } from "./routes/tokens.ts";

export type ManagementOptions = {
  readonly user: string;
  readonly password: string;
  readonly trustedProxies: AddressSet;
  /** After each change: who keeps a copy of the accounts in this process need not wait for its next look. */
  readonly onChange?: () => Promise<void>;
};

export function managementHandler(
  ports: ManagementPorts,
  options: ManagementOptions,
): RequestHandler {
  const answers = answersOf(ports);
  const door: Door = {
    checkOperator: createOperatorCheck(options, ports.clock),
    trustedProxies: options.trustedProxies,
    bodyBudget: createBodyBudget(),
    onChange: options.onChange ?? (async () => undefined),
    log: ports.log,
  };
  const routed = createExpressApp(
    [
      ...searchIndexRoutes(door, ports),
      ...tenantRoutes(door, ports),
      ...tokenRoutes(door, ports),
      ...keyRoutes(door, ports),
    ],
    answers,
  );
  return (req, res) => {
    routed(req, res);
    return undefined;
  };
}

export type ManagementEdge = ManagementOptions & {
  readonly host: string;
  readonly port: number;
  readonly readiness: Readiness;
  readonly drainMs: number;
};

/** With a listener of its own. */
export function createManagement(ports: ManagementPorts, options: ManagementEdge): Edge {
  const { drainMs, host, port, readiness } = options;
  const { clock, log } = ports;
  return createEdge({
    name: "management",
    handler: managementHandler(ports, options),
    ...{ answers: answersOf(ports), clock, drainMs, host, log, port, readiness },
  });
}

const answersOf = (ports: ManagementPorts): Answers =>
  createAnswers({ ...ports, challenge: basicChallenge });
