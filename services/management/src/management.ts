/** Management: administers tenants, tokens, plans, signing keys and the books on search indexes, for one operator. */
import {
  type AddressSet,
  createAnswers,
  createBodyBudget,
  createEdge,
  createExpressApp,
  type Edge,
  type Readiness,
} from "@posthaste/runtime";
import { basicChallenge, createOperatorCheck } from "./basic.ts";
import { type Door } from "./door.ts";
import { type ManagementPorts } from "./ports.ts";
import { keyRoutes } from "./routes/keys.ts";
import { searchIndexRoutes } from "./routes/search-indexes.ts";
import { tenantRoutes } from "./routes/tenants.ts";
import { tokenRoutes } from "./routes/tokens.ts";

export type ManagementOptions = {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly trustedProxies: AddressSet;
  readonly readiness: Readiness;
  readonly drainMs: number;
};

export function createManagement(ports: ManagementPorts, options: ManagementOptions): Edge {
  const { clock, log } = ports;
  const { drainMs, host, port, readiness, trustedProxies } = options;
  const answers = createAnswers({ ...ports, challenge: basicChallenge });
  const door: Door = {
    checkOperator: createOperatorCheck(options, clock),
    trustedProxies,
    bodyBudget: createBodyBudget(),
    log,
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
  return createEdge({
    name: "management",
    handler: (req, res) => {
      routed(req, res);
      return undefined;
    },
    ...{ answers, clock, drainMs, host, log, port, readiness },
  });
}
