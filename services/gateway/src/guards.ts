/**
 * The checks that every request passes, to an endpoint or a raw target: load, caller, rights; then what the row of its endpoint
 * allows.
 */
import {
  type Answer,
  type Endpoint,
  type EndpointSpec,
  isChange,
  type OperationId,
  resourceOf,
  type ReadPermit,
} from "@posthaste/contract";
import { type Fault, isFault, refusalOfScope } from "@posthaste/domain";
import {
  type AddressSet,
  type AnswerStream,
  type Admission,
  type Answers,
  askedOf,
  type Audit,
  type Authenticator,
  type BodyBudget,
  callerIp,
  yieldToOthers,
  withAnswerStream,
  withReadPermit,
  type RequestKind,
} from "@posthaste/http";
import { type Tracer } from "@posthaste/ports";
import { queryOf, replyOf, type Handler as RouteHandler } from "@posthaste/http/router";
import { type BacklogQuota, type Rates } from "./quota.ts";
import { type CallerOf } from "./callers.ts";
import { inSpan, requestSpan } from "./trace.ts";
import { type Handler } from "./handlers/handler.ts";

export type RequestGuards = {
  readonly answers: Answers;
  readonly admission: Admission;
  readonly bodyBudget: BodyBudget;
  readonly trustedProxies: AddressSet;
  readonly callerOf: CallerOf;
  readonly isClosed: Authenticator["isClosed"];
  readonly backlog: BacklogQuota;
  readonly rates: Rates;
  readonly tracer: Tracer;
  readonly audit: Audit;
};

/** Wraps the handler of an endpoint with the guards, so that the handler gets only requests that its row allows. */
export function guarded<Spec extends EndpointSpec>(
  guards: RequestGuards,
  operation: OperationId,
  row: Endpoint<Spec>,
  handle: Handler<Spec, Answer>,
): RouteHandler {
  const admitted = admissionOf(row);
  return async (req, res) => {
    const crowded = guards.admission.refuse(admitted);
    if (crowded) return crowded;
    const search = queryOf(req);
    const queryToken = search.get("qstash_token") ?? undefined;
    search.delete("qstash_token");
    const address = callerIp(req, guards.trustedProxies);
    const caller = await guards.callerOf(req, queryToken, address);
    if (isFault(caller)) return caller;
    const { by, scope, tenant } = caller;
    const refused =
      refusalOfScope(scope, { kind: row.kind, queue: req.params["queueName"]?.toString() }) ??
      (row.kind === "publish" && !row.checksLoad ? guards.backlog.refuse(tenant) : undefined) ??
      (row.kind === "list" ? guards.rates.spendList(tenant) : undefined);
    if (refused) return refused;
    const { params, rawHeaders } = req;
    const { method, path: route } = row;
    const span = requestSpan(guards.tracer, { tenant: tenant.id, method, route, rawHeaders });
    const owner = { tenant: tenant.id, address };
    const asked = await askedOf(row, res, {
      params,
      search,
      budget: guards.bodyBudget,
      owner,
      plan: tenant.plan,
    });
    const onGone = (task: () => void): void => void res.once("close", task);
    const withPermit = <T>(read: (permit: ReadPermit) => Promise<T>): Promise<T | Fault> =>
      withReadPermit(guards.answers, tenant.id, read);
    const answer = () =>
      inSpan(guards.tracer, { req, span }, async () => {
        if (isFault(asked)) return asked;
        const make = () =>
          handle({ ...asked, tenant, scope, callerIp: address, rawHeaders, onGone, withPermit });
        if (!isChange(row, asked.query)) return make();
        const resource = resourceOf(row, params, asked.body);
        return guards.audit({ tenant: tenant.id, by, operation, resource, address }, make);
      });
    const needsStream = row.kind === "publish" && row.answers[200]?.inPieces === true;
    const done: Done | Fault = await (needsStream
      ? withAnswerStream(guards.answers, tenant.id, answer)
      : answer());
    if (isFault(done)) return done;
    // A call that the publish begins is written first: a run waits for it, and not for this answer.
    if (row.kind === "publish") await yieldToOthers();
    return replyOf(done, done.owner ?? tenant.id);
  };
}

function admissionOf({ checksLoad, isOfStep, kind }: AdmittedRow): RequestKind {
  if (isOfStep || checksLoad) return "ongoing";
  switch (kind) {
    case "list":
    case "read":
    case "publish":
      return kind;
    case "secret":
    case "self":
      return "read";
    case "act":
    case "write":
      return "ongoing";
  }
}

type AdmittedRow = Pick<Endpoint, "checksLoad" | "isOfStep" | "kind">;

type Done = Answer & { readonly owner?: AnswerStream };
