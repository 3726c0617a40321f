/** The gateway: accepts. Publish is taken by hand; everything else goes through one router. Stateless but for caches. */
import { type DestinationPolicy } from "@posthaste/domain";
import { type AcceptPorts, type CancelPorts } from "@posthaste/engine";
import {
  type DeadLetters,
  type Log,
  type MessageLog,
  noTelemetry,
  type Random,
  type RetryDelays,
  type Telemetry,
} from "@posthaste/ports";
import {
  type AddressSet,
  type Admission,
  type Answers,
  type Authenticator,
  createBodyBudget,
  createEdge,
  createExpressApp,
  type Cursors,
  type Edge,
  type Readiness,
  type RequestHandler,
} from "@posthaste/runtime";
import { BacklogQuota } from "./backlog.ts";
import { destinationCheck } from "./destinations.ts";
import { type Door } from "./door.ts";
import { createPaging } from "./paging.ts";
import { createPublish, isPublish } from "./publish.ts";
import { deadLetterRoutes } from "./routes/dead-letters.ts";
import { groupRoutes } from "./routes/groups.ts";
import { keyRoutes } from "./routes/keys.ts";
import { logRoutes } from "./routes/logs.ts";
import { messageRoutes } from "./routes/messages.ts";

export type GatewayPorts = AcceptPorts &
  CancelPorts & {
    readonly messageLog: MessageLog;
    readonly deadLetters: DeadLetters;
    readonly retryDelays: RetryDelays;
    readonly random: Random;
    readonly log: Log;
    readonly telemetry?: Telemetry;
  };

export type GatewayOptions = {
  readonly policy: DestinationPolicy;
  readonly trustedProxies: AddressSet;
  readonly authenticator: Authenticator;
  readonly answers: Answers;
  readonly admission: Admission;
  readonly cursors: Cursors;
};

export function gatewayHandler(ports: GatewayPorts, options: GatewayOptions): RequestHandler {
  const { admission, answers, authenticator, cursors, policy, trustedProxies } = options;
  const door: Door = {
    answers,
    admission,
    trustedProxies,
    bodyBudget: createBodyBudget(),
    authenticate: (authorization, queryToken, address) =>
      authenticator.authenticate(authorization, queryToken, address),
    checkDestination: destinationCheck(policy),
  };
  const paging = createPaging(cursors);
  const publish = createPublish({
    door,
    accept: ports,
    retryDelays: ports.retryDelays,
    backlog: new BacklogQuota(ports),
    telemetry: ports.telemetry ?? noTelemetry,
  });
  const routed = createExpressApp(
    [
      ...messageRoutes(door, ports),
      ...groupRoutes(door, ports.groups),
      ...deadLetterRoutes(door, { ...ports, paging }),
      ...logRoutes(door, { ...ports, paging }),
      ...keyRoutes(door),
    ],
    answers,
  );
  return (req, res) => {
    if (isPublish(req.url ?? "")) return publish(req, res);
    routed(req, res);
    return undefined;
  };
}

export type GatewayEdge = GatewayOptions & {
  readonly host: string;
  readonly port: number;
  readonly readiness: Readiness;
  /** The dev profile's permissive CORS. */
  readonly anyOrigin: boolean;
  readonly drainMs: number;
};

/** With a listener of its own. */
export function createGateway(ports: GatewayPorts, options: GatewayEdge): Edge {
  const { anyOrigin, answers, drainMs, host, port, readiness } = options;
  const { clock, log } = ports;
  return createEdge({
    name: "gateway",
    handler: gatewayHandler(ports, options),
    ...{ anyOrigin, answers, clock, drainMs, host, log, port, readiness },
  });
}
