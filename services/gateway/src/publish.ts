/**
 * `POST /v2/publish/{destination}`, taken by hand before any router: this is the path of every message. Headers go
 * through the one table once; the body is bytes and stays so; the answer goes out after the record is durable (I1).
 */
import { type IncomingMessage, type ServerResponse } from "node:http";
import { parsePublish, parsePublishTarget } from "@posthaste/contract";
import { type Fault, fault, isFault } from "@posthaste/domain";
import { type AcceptPorts, publish, type Published } from "@posthaste/engine";
import { type Metrics, type RetryDelays, type Telemetry } from "@posthaste/ports";
import { answer, callerIp, onlyValueOf, readBody, type RequestHandler } from "@posthaste/runtime";
import { type BacklogQuota } from "./backlog.ts";
import { type Door, mayWrite } from "./door.ts";
import { traced } from "./trace.ts";

export type PublishParts = {
  readonly door: Door;
  readonly accept: AcceptPorts;
  readonly retryDelays: RetryDelays;
  readonly backlog: BacklogQuota;
  readonly telemetry: Telemetry;
};

type Response = ServerResponse<IncomingMessage>;
type Result = Published | readonly Published[] | Fault;

const route = "/v2/publish";

/** Decided on the raw target: a router would normalise what belongs to the destination. */
export function isPublish(target: string): boolean {
  if (!target.startsWith(route) && target.slice(0, route.length).toLowerCase() !== route)
    return false;
  const next = target.charAt(route.length);
  return next === "/" || next === "" || next === "?";
}

export function createPublish(parts: PublishParts): RequestHandler {
  const { answers } = parts.door;
  const take = createTake(parts);
  return (req, res) => {
    if (req.method !== "POST") {
      const refused = fault("method_not_allowed", `${req.method} is not allowed here`);
      answers.fault(res, refused, ["Allow", "POST"]);
      return undefined;
    }
    return take(req, res).then((result) => {
      if (isFault(result)) answers.fault(res, result);
      else sendPublished(res, result);
    });
  };
}

function createTake({ door, accept, retryDelays, backlog, telemetry }: PublishParts) {
  const checkRetryDelay = retryDelays.check.bind(retryDelays);
  const { checkDestination } = door;

  return async (req: IncomingMessage, res: Response): Promise<Result> => {
    const arrivedAt = telemetry.tracer.isOn ? accept.clock.now() : 0;
    const crowded = door.admission.refuse("publish");
    if (crowded) return crowded;
    const target = parsePublishTarget(req.url ?? "");
    const address = callerIp(req, door.trustedProxies);
    const queryToken = isFault(target) ? undefined : target.token;
    const caller = door.authenticate(onlyValueOf(req, "authorization"), queryToken, address);
    if (isFault(caller)) return caller;
    if (isFault(target)) return target;
    const { tenant } = caller;
    const refused = mayWrite(caller) ?? backlog.refuse(tenant);
    if (refused) return refused;
    const body = await readBody(res, {
      bytesMax: tenant.plan.bodyBytesMax,
      budget: door.bodyBudget,
    });
    if (isFault(body)) return body;
    const now = accept.clock.now();
    const command = parsePublish({
      rawHeaders: req.rawHeaders,
      queryConfig: target.queryConfig,
      destination: target.destination,
      body,
      tenant: tenant.id,
      plan: tenant.plan,
      defaultDialect: tenant.dialect,
      callerIp: address,
      now,
      checkRetryDelay,
      checkDestination,
    });
    if (isFault(command)) return command;
    const published = await (telemetry.tracer.isOn
      ? traced(telemetry.tracer, { req, arrivedAt, now }, command, (it) => publish(accept, it))
      : publish(accept, command));
    if (!isFault(published)) count(telemetry.metrics, published);
    return published;
  };
}

function count(metrics: Metrics, published: Published | readonly Published[]): void {
  for (const { deduplicated } of "messageId" in published ? [published] : published)
    metrics.count("posthaste_messages_accepted_total", deduplicated ? "duplicate" : "new");
}

function sendPublished(res: Response, published: Published | readonly Published[]): void {
  if ("messageId" in published) answer(res, published.deduplicated ? 202 : 200, textOf(published));
  else answer(res, 200, `[${published.map(textOf).join(",")}]`);
}

const textOf = ({ messageId, url, deduplicated }: Published): string =>
  `{"messageId":"${messageId}","url":${JSON.stringify(url)}${deduplicated ? ',"deduplicated":true' : ""}}`;
