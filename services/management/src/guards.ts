/** The checks that every request to management passes: credentials first, whatever the request. */
import {
  type Answer,
  type Endpoint,
  type EndpointSpec,
  isChange,
  type ManagementOperationId,
  resourceOf,
} from "@posthaste/contract";
import {
  type Fault,
  isChanging,
  isFault,
  refusalOfRole,
  type TenantId,
  tenantId,
} from "@posthaste/domain";
import { type Log } from "@posthaste/ports";
import {
  type AddressSet,
  askedOf,
  type Audit,
  type BodyBudget,
  callerIp,
  isOfOtherOrigin,
  refusalOfOtherOrigin,
  type StreamedReply,
} from "@posthaste/http";
import { queryOf, type Reply, replyOf, type Handler as RouteHandler } from "@posthaste/http/router";
import { type OperatorActor, type Operators } from "./operator.ts";
import { type Handler } from "./handlers/handler.ts";

export type RequestGuards = {
  readonly callerOf: Operators["callerOf"];
  readonly trustedProxies: AddressSet;
  readonly bodyBudget: BodyBudget;
  readonly audit: Audit;
  readonly onChange: () => Promise<void>;
  readonly log: Log;
};

type Request = Parameters<RouteHandler>[0];
type Response = Parameters<RouteHandler>[1];

/** All operators are one owner of the memory for bodies. */
const operator = "operator";

/** Wraps the handler of an endpoint with the guards, so that the handler gets only requests that its row allows. */
export function guarded<Spec extends EndpointSpec>(
  guards: RequestGuards,
  operation: ManagementOperationId,
  row: Endpoint<Spec>,
  handle: Handler<Spec, Answer>,
): RouteHandler {
  const answer = async (
    req: Request,
    res: Response,
    address: string,
    by: OperatorActor,
  ): Promise<Answer | Fault> => {
    const owner = { tenant: operator, address };
    const { params } = req;
    const search = queryOf(req);
    const asked = await askedOf(row, res, { params, search, budget: guards.bodyBudget, owner });
    if (isFault(asked)) return asked;
    if (!isChange(row, asked.query)) return handle(asked);
    const named = row.namedBy?.(asked.body);
    const change = {
      tenant: tenantOf(row.path, params["id"]?.toString(), named),
      by,
      operation,
      resource: resourceOf(row, params, asked.body),
      address,
    };
    return guards.audit(change, () => handle(asked));
  };
  return async (req, res) => {
    const address = callerIp(req, guards.trustedProxies);
    // Browsers store a password and send it along with requests of other pages. Such a request is not counted as a guess.
    if (isOfOtherOrigin(req)) return refusalOfOtherOrigin;
    const caller = await guards.callerOf(req, address);
    if (isFault(caller)) return caller;
    const refused = refusalOfRole(caller.role, row);
    if (refused) return refused;
    const answered = await (isChanging(row.kind)
      ? audited(guards, req, address, () => answer(req, res, address, caller))
      : answer(req, res, address, caller));
    return isFault(answered) ? answered : secret(replyOf(answered, operator));
  };
}

/** Returns the tenant that a request concerns: that of the path, or the new one. */
function tenantOf(
  path: string,
  id: string | undefined,
  named: string | undefined,
): TenantId | undefined {
  const tenant = path.startsWith("/v2/tenants") ? (id ?? named) : undefined;
  return tenant === undefined ? undefined : tenantId(tenant.slice(0, idLengthMax));
}

/** Longer than any id: the path may contain anything. */
const idLengthMax = 128;

/** Logs one line for each change, and for each change that was refused. */
async function audited(
  guards: RequestGuards,
  req: Request,
  address: string,
  change: () => Promise<Answer | Fault>,
): Promise<Answer | Fault> {
  const result = await change();
  const outcome = isFault(result) ? result.fault : "done";
  guards.log.info("management.asked", { method: req.method, to: req.path, outcome, address });
  if (!isFault(result)) await tellOfChange(guards);
  return result;
}

/** Reports a change to the gateways. The change stays even if a gateway cannot be reached at once. */
const tellOfChange = ({ onChange, log }: RequestGuards): Promise<void> =>
  onChange().catch((error: unknown) => log.warn("accounts.stale", { error }));

/** Marks answers as not to be cached, since most hold secrets. */
const secret = <R extends Reply | StreamedReply>(reply: R): R => ({
  ...reply,
  headers: [...(reply.headers ?? []), "Cache-Control", "no-store"],
});
