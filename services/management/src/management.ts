/** Management: administers tenants, tokens, plans, signing keys and search indexes, for operators. */
import {
  type Answer,
  type Endpoint,
  managementEndpoints,
  type ManagementOperationId,
  managementOperationIds,
  type ManagementSpecs,
} from "@posthaste/contract";
import {
  type AddressSet,
  type Answers,
  createAnswers,
  createAudit,
  createBodyBudget,
  createConsolePages,
  createEdge,
  createSessionHandler,
  type Edge,
  type ProviderSignIn,
  type RequestHandler,
  rightsOf,
  type Sessions,
} from "@posthaste/http";
import { createExpressApp, type Route } from "@posthaste/http/router";
import { type Readiness } from "@posthaste/ports";
import { type OperatorRole } from "@posthaste/domain";
import { basicChallenge, type Credentials } from "./basic.ts";
import { guarded, type RequestGuards } from "./guards.ts";
import { createOperators } from "./operator.ts";
import { type ManagementPorts } from "./ports.ts";
import { createReads } from "./reads.ts";
import { managementHandlers } from "./handlers/index.ts";
import { type Handler } from "./handlers/handler.ts";

export type ManagementOptions = {
  readonly operators: readonly Credentials[];
  readonly trustedProxies: AddressSet;
  /** For how many days entries of the audit log are kept. */
  readonly auditDays: number;
  /** The console: the folder of its build, its sessions, and the provider that begins some of them. */
  readonly console?: {
    readonly folder: string;
    readonly sessions: Sessions;
    readonly oidc?: ProviderSignIn<OperatorRole> | undefined;
  };
  /** Called after each change, so that a copy of the accounts in this process need not wait for its next refresh. */
  readonly onChange?: () => Promise<void>;
};

export function managementHandler(
  ports: ManagementPorts,
  options: ManagementOptions,
): RequestHandler {
  const answers = answersOf(ports);
  const { operators: credentials, trustedProxies } = options;
  const { folder, oidc, sessions } = options.console ?? {};
  const groups = rightsOf(oidc);
  const { callerOf, keeper } = createOperators(ports, { credentials, groups, sessions });
  const audit = createAudit({ ...ports, auditDays: options.auditDays });
  const guards: RequestGuards = {
    callerOf,
    audit,
    trustedProxies,
    bodyBudget: createBodyBudget(ports.clock),
    onChange: options.onChange ?? (async () => undefined),
    log: ports.log,
  };
  const routed = createExpressApp(routesOf(guards, ports), answers);
  const session =
    sessions &&
    createSessionHandler({
      ...ports,
      audit,
      sessions,
      keeper,
      answers,
      trustedProxies,
      signIn: oidc,
    });
  const consolePages = createConsolePages({ folder, page: "operator.html", session }, ports.clock);
  return (req, res) => {
    const answerPage = consolePages(req);
    if (answerPage)
      return answerPage(req, res).then((isAnswered) => {
        if (!isAnswered) routed(req, res);
      });
    routed(req, res);
    return undefined;
  };
}

type Rows = { readonly [Id in ManagementOperationId]: Endpoint<ManagementSpecs[Id]> };
type BoundHandlers = {
  readonly [Id in ManagementOperationId]: Handler<ManagementSpecs[Id], Answer>;
};

function routesOf(guards: RequestGuards, ports: ManagementPorts): readonly Route[] {
  const rows: Rows = managementEndpoints;
  const handlers: BoundHandlers = managementHandlers({ ...ports, reads: createReads(ports) });
  const routeOf = <Id extends ManagementOperationId>(id: Id): Route => ({
    method: rows[id].method,
    path: rows[id].path,
    handle: guarded(guards, id, rows[id], handlers[id]),
  });
  return managementOperationIds.map(routeOf);
}

export type ManagementEdge = ManagementOptions & {
  readonly host: string;
  readonly port: number;
  readonly readiness: Readiness;
  readonly drainMs: number;
  readonly connectionsMax: number;
};

export function createManagement(ports: ManagementPorts, options: ManagementEdge): Edge {
  const { connectionsMax, drainMs, host, port, readiness, trustedProxies } = options;
  const { clock, log } = ports;
  return createEdge({
    name: "management",
    handler: managementHandler(ports, options),
    limits: { connectionsMax },
    ...{ answers: answersOf(ports), clock, drainMs, host, log, port, readiness, trustedProxies },
  });
}

const answersOf = (ports: ManagementPorts): Answers =>
  createAnswers({ ...ports, challenge: basicChallenge });
