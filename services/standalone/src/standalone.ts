/**
 * The six services in one process, over whatever adapters they are given. What lives apart in a cluster is joined here by
 * function calls: the deliverer is the gateway's local delivery, so that an insert may be the claim.
 */
import { CallbackDispatcher } from "@posthaste/callback-dispatcher";
import { createCompose, Deliverer } from "@posthaste/deliverer";
import { type DestinationPolicy, owner, type Sha256Hex } from "@posthaste/domain";
import { Tenants } from "@posthaste/engine";
import { createGateway } from "@posthaste/gateway";
import { createManagement } from "@posthaste/management";
import {
  type Accounts,
  type Clock,
  type DeadLetters,
  type EventBus,
  type Groups,
  type Ids,
  type Log,
  type MessageLog,
  type MessageStore,
  type Random,
  type RetryDelays,
  type SearchIndexes,
  type Sender,
  type Telemetry,
  type TokenStore,
} from "@posthaste/ports";
import {
  addressSet,
  createAdmission,
  createAnswers,
  createAuthenticator,
  createCursors,
  createReadiness,
  type Edge,
  type Readiness,
  type Service,
} from "@posthaste/runtime";
import { Scheduler } from "@posthaste/scheduler";
import { WorkflowLog } from "@posthaste/workflow-log";

export type StandalonePorts = {
  readonly messages: MessageStore;
  readonly messageLog: MessageLog;
  readonly deadLetters: DeadLetters;
  readonly groups: Groups;
  readonly accounts: Accounts;
  readonly indexes: SearchIndexes;
  readonly tokens: TokenStore;
  readonly bus: EventBus;
  readonly ids: Ids;
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
  readonly anyOrigin: boolean;
  readonly attemptsMax: number;
  readonly attemptsPerOriginMax: number;
  readonly drainMs: number;
  readonly cursorSecret: string;
  /** Undefined: the management API is off. */
  readonly management:
    { readonly port: number; readonly user: string; readonly password: string } | undefined;
  /** How long the store's oldest write has waited for its commit. */
  readonly storeWaitMs: () => number;
};

export type Standalone = {
  readonly services: readonly Service[];
  readonly gateway: Edge;
  readonly management: Edge | undefined;
  readonly readiness: Readiness;
};

const ownerLength = 12;

export function createStandalone(ports: StandalonePorts, options: StandaloneOptions): Standalone {
  const { accounts, clock, log, random } = ports;
  const { attemptsMax, attemptsPerOriginMax, drainMs } = options;
  const readiness = createReadiness();
  const admission = createAdmission({ clock, random, storeWaitMs: options.storeWaitMs });
  const tenants = new Tenants({ accounts, clock, log });
  const authenticator = createAuthenticator({ accounts, clock, log });
  const deliverer = new Deliverer(ports, {
    owner: owner(random.text(ownerLength)),
    slots: {
      shortMax: attemptsMax,
      perOriginMax: attemptsPerOriginMax,
      longMax: Math.ceil(attemptsMax / 2),
    },
    compose: createCompose({ tenantOf: (id) => tenants.get(id), random }),
    drainMs,
  });
  const trustedProxies = addressSet(options.trustedProxies);
  const gateway = createGateway(
    { ...ports, local: deliverer },
    {
      ...options,
      authenticator,
      trustedProxies,
      answers: createAnswers({ log, random, clock }),
      admission,
      cursors: createCursors({ secret: options.cursorSecret, clock }),
      readiness,
    },
  );
  const management =
    options.management &&
    createManagement(ports, {
      ...options,
      ...options.management,
      trustedProxies,
      readiness,
      onChange: async () => {
        await Promise.all([authenticator.refresh(), tenants.refresh()]);
      },
    });
  return {
    gateway,
    management,
    readiness,
    // Started in this order and stopped in reverse: what takes work in goes first, what carries it out goes last.
    services: [
      { name: "admission", start: async () => undefined, stop: async () => admission.close() },
      tenants,
      authenticator,
      new WorkflowLog(ports, { storeWritesLog: true }),
      new CallbackDispatcher(ports),
      deliverer,
      new Scheduler(ports),
      ...(management ? [management] : []),
      gateway,
    ],
  };
}
