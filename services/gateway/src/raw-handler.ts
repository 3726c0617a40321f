/**
 * Handles the raw targets, without a router, since every message passes here: load, caller, target, rights, body;
 * then the row's own handler, whose answer is sent as it is.
 */
import { type IncomingMessage, type ServerResponse } from "node:http";
import {
  belongsToRun,
  faultOfRun,
  givenValue,
  type ParsedTarget,
  parseRawTarget,
  type Pieces,
  type RawOperation,
  type RawTargetRow,
  type ReadPermit,
} from "@posthaste/contract";
import { type Fault, fault, isFault, refusalOfScope } from "@posthaste/domain";
import { type Clock, type Telemetry, type Tenant } from "@posthaste/ports";
import {
  answer,
  type AnswerStream,
  type Caller,
  callerIp,
  yieldToOthers,
  withAnswerStream,
  readBody,
} from "@posthaste/http";
import { type RequestGuards } from "./guards.ts";

/** The request that the handler of a raw target gets. */
type RawRequest = {
  readonly req: IncomingMessage;
  /** When the request arrived, by `passedMs`; 0 while tracing is off. */
  readonly arrivedMs: number;
  readonly tenant: Tenant;
  readonly callerIp: string;
  readonly target: ParsedTarget;
  /** The queue that the path names. */
  readonly queue: string | undefined;
  readonly body: Uint8Array;
};

/** JSON: whole, or in pieces if it may be long. */
type RawAnswer =
  | { readonly status: number; readonly text: string }
  | { readonly status: number; readonly read: (permit: ReadPermit) => Promise<Pieces> };

export type TargetHandler = (request: RawRequest) => Promise<RawAnswer | Fault>;

export type TargetHandlers = { readonly [Operation in RawOperation]: TargetHandler };

export type RawHandlerParts = {
  readonly guards: RequestGuards;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
};

type Done = RawAnswer & { readonly owner?: AnswerStream };
type Response = ServerResponse<IncomingMessage>;
type RawHandler = (
  row: RawTargetRow,
  req: IncomingMessage,
  res: Response,
) => Promise<void> | undefined;

export function createRawHandler(
  { guards, clock, telemetry }: RawHandlerParts,
  handlers: TargetHandlers,
): RawHandler {
  const { answers } = guards;

  async function take(
    row: RawTargetRow,
    req: IncomingMessage,
    res: Response,
  ): Promise<Done | Fault> {
    const arrivedMs = telemetry.tracer.isOn ? clock.passedMs() : 0;
    const isOfStep = belongsToRun(req.rawHeaders);
    const crowded = guards.admission.refuse(isOfStep ? "ongoing" : "publish");
    if (crowded) return crowded;
    const target = parseRawTarget(row, req.url ?? "");
    const address = callerIp(req, guards.trustedProxies);
    const queryToken = isFault(target) ? undefined : target.token;
    const caller = await guards.callerOf(req, queryToken, address);
    if (isFault(caller)) return caller;
    if (isFault(target)) return faultOfRun(target, req.rawHeaders);
    const { tenant } = caller;
    const queue = queueIn(row, target);
    const refused = refusalOfScope(caller.scope, { kind: row.kind, queue });
    if (refused) return refused;
    const isFull = guards.backlog.refuse(tenant);
    // A step that has run is accepted; refused, it would run again.
    if (isFull && !isOfStep) return isFull;
    const body = await readBody(res, {
      bytesMax: tenant.plan.bodyBytesMax,
      budget: guards.bodyBudget,
      owner: { tenant: tenant.id, address },
    });
    if (isFault(body)) return faultOfRun(body, req.rawHeaders);
    const request = { req, arrivedMs, tenant, callerIp: address, target, queue, body };
    const handle = auditedIn(row, caller, handlers[row.operation]);
    // The answer of a group publish is as long as the group.
    if (target.destination.kind === "group")
      return withAnswerStream(answers, tenant.id, () => handle(request));
    return isOfStep || row.operation === "trigger" ? afterCalls(handle(request)) : handle(request);
  }

  /** Wraps the handler of a lasting change. A dry run is not one. */
  function auditedIn(
    row: RawTargetRow,
    { by, tenant }: Caller,
    handle: TargetHandler,
  ): TargetHandler {
    if (row.kind === "publish") return handle;
    const { operation, prefix } = row;
    return (request) => {
      const { callerIp: address, req } = request;
      if (givenValue(req.rawHeaders, "dry-run")?.toLowerCase() === "true") return handle(request);
      const resource = [prefix, givenValue(req.rawHeaders, "schedule-id") ?? ""].join("/");
      return guards.audit({ tenant: tenant.id, by, operation, resource, address }, () =>
        handle(request),
      );
    };
  }

  return (row, req, res) => {
    if (req.method !== "POST") {
      const refused = fault("method_not_allowed", `${req.method} is not allowed here`);
      answers.fault(res, refused, ["Allow", "POST"]);
      return undefined;
    }
    return take(row, req, res).then((done) => {
      if (isFault(done)) return answers.fault(res, done);
      if ("text" in done) return answer(res, done.status, done.text);
      return answers.streamed(res, { owner: "", ...done });
    });
  };
}

/** Resolves when the calls that the publish has begun are written: a run waits for them, and not for the answer. */
async function afterCalls<T>(answering: Promise<T>): Promise<T> {
  const done = await answering;
  await yieldToOthers();
  return done;
}

const queueIn = (row: RawTargetRow, { names }: ParsedTarget): string | undefined =>
  names.find((_, i) => row.names[i] === "queueName");
