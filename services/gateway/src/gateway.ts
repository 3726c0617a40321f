/** The gateway: accepts messages. Raw targets have a guards of their own; everything else passes one router. Stateless except for caches. */
import {
  type Answer,
  type Endpoint,
  eventTarget,
  gatewayEndpoints,
  type GatewaySpecs,
  type OperationId,
  operationIds,
  rawTargetOf,
} from "@posthaste/contract";
import { type DestinationPolicy, type GroupRight } from "@posthaste/domain";
import { type CancelPorts, type RunPorts } from "@posthaste/engine";
import {
  type AddressSet,
  type Admission,
  type Answers,
  type Authenticator,
  createAudit,
  createBodyBudget,
  createConsolePages,
  createEdge,
  createSessionHandler,
  type FoundLimits,
  type Cursors,
  type Edge,
  hideSessions,
  type Origins,
  type ProviderSignIn,
  rightsOf,
  type RequestHandler,
  type Sessions,
} from "@posthaste/http";
import { createExpressApp, type Route } from "@posthaste/http/router";
import {
  type Accounts,
  type AuditLog,
  type BulkActions,
  type DeadLetters,
  type FlowLanes,
  type KeptBodies,
  type Log,
  type MessageLog,
  noTelemetry,
  type Random,
  type Readiness,
  type RetryDelays,
  type RunLog,
  type RunningCalls,
  type Schedules,
  type Telemetry,
} from "@posthaste/ports";
import { BacklogQuota, createRates, type Intake } from "./quota.ts";
import { createCallerOf, createSessionKeeper } from "./callers.ts";
import { guarded, type RequestGuards } from "./guards.ts";
import { createWebhookHandler, webhookTargetOf } from "./webhook-handler.ts";
import { createContextOf, urlReader } from "./parse-context.ts";
import { type LogWatchers } from "./live-log/watchers.ts";
import { createPaging } from "./paging.ts";
import { createReads } from "./reads.ts";
import { createRawHandler } from "./raw-handler.ts";
import { publishHandler } from "./handlers/publish.ts";
import { createScheduleHandler } from "./handlers/schedules.ts";
import { triggerHandler } from "./handlers/trigger.ts";
import { gatewayHandlers, type HandlerParts } from "./handlers/index.ts";
import { type Handler } from "./handlers/handler.ts";

export type GatewayPorts = RunPorts &
  CancelPorts & {
    readonly flowLanes: FlowLanes;
    readonly keptBodies: KeptBodies;
    readonly bulkActions: BulkActions;
    readonly messageLog: MessageLog;
    readonly runLog: RunLog;
    readonly deadLetters: DeadLetters;
    readonly schedules: Schedules;
    readonly retryDelays: RetryDelays;
    readonly runningCalls: RunningCalls;
    readonly random: Random;
    readonly accounts: Pick<Accounts, "changeTenant">;
    readonly auditLog: AuditLog;
    readonly log: Log;
    readonly telemetry?: Telemetry;
  };

export type GatewayOptions = {
  readonly policy: DestinationPolicy;
  /** The URL for messages to `api/llm`. If undefined, such messages are refused. */
  readonly llmUrl: string | undefined;
  /** The console: the folder of its build, its sessions, and the provider that begins some of them. */
  readonly console?: {
    readonly folder: string;
    readonly sessions: Sessions;
    readonly oidc?: ProviderSignIn<GroupRight> | undefined;
  };
  readonly trustedProxies: AddressSet;
  /** For how many days entries of the audit log are kept. */
  readonly auditDays: number;
  readonly authenticator: Authenticator;
  /** Reads the accounts again after a change by this process. */
  readonly refreshAccounts: () => Promise<void>;
  readonly answers: Answers;
  readonly admission: Admission;
  readonly cursors: Cursors;
  readonly watchers: LogWatchers;
  readonly intake?: Intake;
};

export function gatewayHandler(ports: GatewayPorts, options: GatewayOptions): RequestHandler {
  const { admission, answers, authenticator, trustedProxies } = options;
  const { telemetry = noTelemetry } = ports;
  const parts = handlerParts(ports, options);
  const { backlog, rates } = parts;
  const { folder, oidc, sessions } = options.console ?? {};
  const callers = { ...ports, authenticator, groups: rightsOf(oidc) };
  const audit = createAudit({ ...ports, auditDays: options.auditDays });
  const guards: RequestGuards = {
    answers,
    rates,
    admission,
    trustedProxies,
    bodyBudget: createBodyBudget(ports.clock),
    callerOf: createCallerOf(callers, options.console?.sessions),
    isClosed: (tenant) => authenticator.isClosed(tenant),
    backlog,
    tracer: telemetry.tracer,
    audit,
  };
  const publishing = publishHandler(parts);
  const raw = createRawHandler(
    { guards, clock: ports.clock, telemetry },
    {
      publish: publishing,
      enqueue: publishing,
      trigger: triggerHandler(parts),
      createSchedule: createScheduleHandler(parts),
    },
  );
  const hooks = createWebhookHandler(guards, ports);
  const { refreshAccounts } = options;
  const routed = createExpressApp(routesOf(guards, parts), answers);
  const keeper = createSessionKeeper({ ...callers, rates, refreshAccounts });
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
  const consolePages = createConsolePages({ folder, page: "index.html", session }, ports.clock);
  return (req, res) => {
    hideSessions(req);
    const target = rawTargetOf(req.method ?? "", req.url ?? "");
    if (target) return raw(target, req, res);
    const hook = webhookTargetOf(req.url ?? "");
    if (hook) return hooks(hook, req, res);
    const answerPage = consolePages(req);
    if (answerPage)
      return answerPage(req, res).then((isAnswered) => {
        if (!isAnswered) routed(req, res);
      });
    req.url = eventTarget(req.url ?? "") ?? req.url;
    routed(req, res);
    return undefined;
  };
}

type HandlerOptions = Pick<
  GatewayOptions,
  "admission" | "cursors" | "intake" | "llmUrl" | "policy" | "refreshAccounts" | "watchers"
>;

export function handlerParts(ports: GatewayPorts, options: HandlerOptions): HandlerParts {
  const { admission, cursors, llmUrl, policy, refreshAccounts, watchers } = options;
  const { intake = { isClosed: false } } = options;
  const rates = createRates(ports);
  const readUrl = urlReader(policy);
  return {
    ...ports,
    ...{ admission, intake, rates, readUrl, refreshAccounts, watchers },
    telemetry: ports.telemetry ?? noTelemetry,
    backlog: new BacklogQuota(ports),
    contextOf: createContextOf({ ...ports, rates, readUrl, llmUrl }),
    reads: createReads(ports),
    paging: createPaging(cursors),
  };
}

type Rows = { readonly [Id in OperationId]: Endpoint<GatewaySpecs[Id]> };
type BoundHandlers = { readonly [Id in OperationId]: Handler<GatewaySpecs[Id], Answer> };

function routesOf(guards: RequestGuards, parts: HandlerParts): readonly Route[] {
  const rows: Rows = gatewayEndpoints;
  const handlers: BoundHandlers = gatewayHandlers(parts);
  const routeOf = <Id extends OperationId>(id: Id): Route => ({
    method: rows[id].method,
    path: rows[id].path,
    handle: guarded(guards, id, rows[id], handlers[id]),
  });
  return operationIds.map(routeOf);
}

export type GatewayEdge = GatewayOptions &
  FoundLimits & {
    readonly host: string;
    readonly port: number;
    readonly readiness: Readiness;
    readonly origins: Origins;
    readonly drainMs: number;
  };

export function createGateway(ports: GatewayPorts, options: GatewayEdge): Edge {
  const { answers, drainMs, host, limits = {}, origins } = options;
  const { port, readiness, trustedProxies } = options;
  const { clock, log } = ports;
  return createEdge({
    name: "gateway",
    handler: gatewayHandler(ports, options),
    ...{ answers, clock, drainMs, host, limits, log, origins, port, readiness, trustedProxies },
  });
}
