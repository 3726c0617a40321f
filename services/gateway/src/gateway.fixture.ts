/** A gateway over the embedded store with a listener of its own. */
import {
  defaultPlan,
  destinationPolicy,
  isFault,
  type Plan,
  type TenantId,
  tenantId,
} from "@posthaste/domain";
import { openEmbedded } from "@posthaste/embedded";
import {
  addressSet,
  type Authenticator,
  createAdmission,
  createAnswers,
  createCursors,
  createEdge,
  type Edge,
} from "@posthaste/http";
import { type Tenant } from "@posthaste/ports";
import { aTenant, recordingLog, seededRandom, virtualClock, sha256 } from "@posthaste/testing";
import { gatewayHandler, type GatewayPorts } from "./gateway.ts";
import { createLogWatchers } from "./live-log/watchers.ts";

const tenantOf = (id: TenantId): Tenant => ({
  ...{ id, dialect: "service", plan: defaultPlan },
  keys: { current: "", next: "" },
});

/** Returns an authenticator that takes the token for the tenant's name. */
const byName = (plan: Plan): Authenticator => ({
  name: "authenticator",
  start: async () => undefined,
  stop: async () => undefined,
  authenticate: (authorization) => ({
    tenant: { ...tenantOf(tenantId(authorization?.replace("Bearer ", "") ?? aTenant)), plan },
    scope: "full",
    by: { kind: "token", id: "tok_1" },
  }),
  planOf: () => plan,
  holderOf: () => undefined,
  openTenant: () => undefined,
  isClosed: () => false,
  knowsAnybody: () => true,
  refresh: async () => undefined,
});

export type Gateway = {
  readonly ports: GatewayPorts;
  readonly url: string;
  readonly close: () => Promise<void>;
};

export async function startGateway(
  changed: (ports: GatewayPorts) => Partial<GatewayPorts> = () => ({}),
  plan: Plan = defaultPlan,
): Promise<Gateway> {
  const clock = virtualClock();
  const random = seededRandom(1);
  const log = recordingLog();
  const store = openEmbedded({ dataDir: ":memory:", clock, random, log });
  const stored: GatewayPorts = {
    ...{ ...store, clock, random, log },
    sha256,
    retryDelays: { check: () => undefined, delayMs: () => 0 },
    runningCalls: { ofTenant: async () => 0 },
  };
  const ports = { ...stored, ...changed(stored) };
  const answers = createAnswers({ log, random, clock });
  const trustedProxies = addressSet([]);
  const policy = destinationPolicy({ anyPort: true });
  if (isFault(policy)) throw new Error(policy.text);
  const admission = createAdmission({ clock, random, storeWaitMs: () => 0 });
  const watchers = createLogWatchers(ports, 100);
  const handler = gatewayHandler(ports, {
    policy,
    llmUrl: undefined,
    trustedProxies,
    auditDays: 90,
    authenticator: byName(plan),
    refreshAccounts: async () => undefined,
    answers,
    admission,
    cursors: createCursors({ secret: "secret", clock }),
    watchers,
  });
  const edge: Edge = createEdge({
    ...{ name: "gateway", host: "127.0.0.1", port: 0, drainMs: 100 },
    ...{ handler, answers, clock, log, trustedProxies },
  });
  await edge.start();
  return {
    ports: stored,
    url: `http://127.0.0.1:${edge.port}`,
    close: async () => {
      await edge.stop();
      await watchers.stop();
      admission.close();
      await store.close();
    },
  };
}
