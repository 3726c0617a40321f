/**
 * The six services in one process, over the given adapters. Function calls connect what are separate processes in a
 * cluster: the deliverer is the gateway's local delivery, so that an insert may be the claim.
 */
import { CallbackDispatcher } from "@posthaste/callback-dispatcher";
import {
  createCompose,
  Deliverer,
  type DelivererOptions,
  type SlotBounds,
} from "@posthaste/deliverer";
import {
  type DestinationPolicy,
  type GroupRight,
  type OperatorRole,
  owner,
  type Sha256Hex,
} from "@posthaste/domain";
import { Tenants } from "@posthaste/engine";
import { createGateway, createLogWatchers } from "@posthaste/gateway";
import {
  addressSet,
  createAdmission,
  createAnswers,
  createAuthenticator,
  createCursors,
  createSessions,
  type Edge,
  type Origins,
  type ProviderSignIn,
} from "@posthaste/http";
import { createManagement, type ManagementOptions } from "@posthaste/management";
import {
  type Clock,
  type EventBus,
  type Log,
  type StorePorts,
  type Random,
  type Readiness,
  type RetryDelays,
  type Sender,
  type Service,
  type Telemetry,
  type TokenStore,
} from "@posthaste/ports";
import { Scheduler } from "@posthaste/scheduler";
import { WorkflowLog } from "@posthaste/workflow-log";

export type StandalonePorts = Omit<StorePorts, "sizes"> & {
  readonly tokens: TokenStore;
  readonly bus: EventBus;
  readonly sender: Sender;
  readonly retryDelays: RetryDelays;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly telemetry?: Telemetry;
  readonly sha256: Sha256Hex;
};

export type StandaloneOptions = {
  readonly host: string;
  readonly port: number;
  readonly policy: DestinationPolicy;
  readonly trustedProxies: readonly string[];
  readonly origins: Origins;
  readonly auditDays: number;
  readonly readiness: Readiness;
  readonly slots: SlotBounds;
  /** The connections of callers at once. */
  readonly connectionsMax: number;
  readonly bodyBytesMax: number;
  readonly inlineHistoryBytesMax: number;
  readonly drainMs: number;
  readonly failed?: DelivererOptions["failed"];
  /** The lateness, in milliseconds, beyond which even the last due slot of a schedule is skipped; see `limits`. */
  readonly slotLateMsMax: number;
  /** How full the disk may be before kept bodies are removed. */
  readonly keptBodiesDiskShareMax: number;
  readonly cursorSecret: string;
  readonly llmUrl: string | undefined;
  /** The console: the folder of its build, the secret of its sessions, and the provider that begins some of them. */
  readonly console?: {
    readonly folder: string;
    readonly sessionSecret: string;
    readonly ofTenants: ProviderSignIn<GroupRight> | undefined;
    readonly ofOperator: ProviderSignIn<OperatorRole> | undefined;
  };
  readonly llmKey: string | undefined;
  /** Undefined when the management API is off. */
  readonly management:
    | {
        readonly port: number;
        readonly connectionsMax: number;
        readonly operators: ManagementOptions["operators"];
      }
    | undefined;
  /** Reports whether the process has no time to spare. */
  readonly isBusy?: () => boolean;
  /** Returns how long the store's oldest write has waited for its commit, in milliseconds. */
  readonly storeWaitMs: () => number;
};

export type Standalone = {
  readonly services: readonly Service[];
  readonly gateway: Edge;
  readonly management: Edge | undefined;
};

const ownerLength = 12;

export function createStandalone(ports: StandalonePorts, options: StandaloneOptions): Standalone {
  const { accounts, clock, log, random } = ports;
  const { slots, bodyBytesMax, drainMs, inlineHistoryBytesMax } = options;
  const admission = createAdmission({ clock, random, storeWaitMs: options.storeWaitMs });
  const tenants = new Tenants({ accounts, clock, log });
  const authenticator = createAuthenticator({ accounts, clock, log });
  const deliverer = new Deliverer(
    { ...ports, tenants },
    {
      owner: owner(random.text(ownerLength)),
      slots,
      bodyBytesMax,
      inlineHistoryBytesMax,
      compose: createCompose({ random, llmKey: options.llmKey }),
      drainMs,
      failed: options.failed,
      ...(options.isBusy && { isBusy: options.isBusy }),
    },
  );
  const refreshAccounts = async (): Promise<void> => {
    await Promise.all([authenticator.refresh(), tenants.refresh()]);
  };
  const trustedProxies = addressSet(options.trustedProxies);
  const watchers = createLogWatchers(ports, options.connectionsMax);
  const consoleOf = <T>(audience: "tenant" | "operator", oidc: T) => {
    if (!options.console) return {};
    const { folder, sessionSecret: secret } = options.console;
    const sessions = createSessions({ audience, secret, clock, random });
    return { console: { folder, sessions, oidc } };
  };
  const { console: _, ...served } = options;
  const intake = { isClosed: false };
  const gateway = createGateway(
    {
      ...ports,
      local: deliverer.local,
      runningCalls: { ofTenant: async (tenant) => deliverer.running(tenant) },
    },
    {
      ...served,
      ...consoleOf("tenant", options.console?.ofTenants),
      authenticator,
      refreshAccounts,
      trustedProxies,
      answers: createAnswers({ log, random, clock }),
      admission,
      limits: { connectionsMax: options.connectionsMax },
      cursors: createCursors({ secret: options.cursorSecret, clock }),
      watchers,
      intake,
    },
  );
  const management =
    options.management &&
    createManagement(ports, {
      ...served,
      ...options.management,
      ...consoleOf("operator", options.console?.ofOperator),
      trustedProxies,
      onChange: refreshAccounts,
    });
  return {
    gateway,
    management,
    // Started in this order and stopped in reverse: intake of new work stops first, then the services that carry it out, then the
    // gateway, which accepts the results of running steps.
    services: [
      { name: "admission", start: async () => undefined, stop: async () => admission.close() },
      tenants,
      authenticator,
      new WorkflowLog(ports, { diskShareMax: options.keptBodiesDiskShareMax }),
      new CallbackDispatcher(ports),
      gateway,
      deliverer,
      new Scheduler({
        ...ports,
        tenants,
        local: deliverer.local,
        slotLateMsMax: options.slotLateMsMax,
      }),
      ...(management ? [management] : []),
      watchers,
      {
        name: "intake",
        start: async () => undefined,
        stop: async () => {
          intake.isClosed = true;
        },
      },
    ],
  };
}
