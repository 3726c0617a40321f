/** What every request to management passes on its way in: credentials first, whatever it asks for. */
import { type Answer, type Endpoint, type EndpointSpec } from "@posthaste/contract";
import { fault, type Fault, isFault } from "@posthaste/domain";
import { type Log } from "@posthaste/ports";
import {
  type AddressSet,
  type BodyBudget,
  callerIp,
  onlyValueOf,
  readBody,
  type StreamedReply,
} from "@posthaste/http";
import { queryOf, type Reply, replyOf, type Work as RouteWork } from "@posthaste/http/router";
import { type CheckOperator } from "./basic.ts";
import { type Work } from "./works/work.ts";

export type Door = {
  readonly checkOperator: CheckOperator;
  readonly trustedProxies: AddressSet;
  readonly bodyBudget: BodyBudget;
  readonly onChange: () => Promise<void>;
  readonly log: Log;
};

type Request = Parameters<RouteWork>[0];
type Response = Parameters<RouteWork>[1];

/** There is one operator, and one share of what may be in memory. */
const operator = "operator";
const empty = new Uint8Array(0);

/** The work of an endpoint behind the door: it is asked only what its row lets through. */
export function admitted<Spec extends EndpointSpec>(
  door: Door,
  row: Endpoint<Spec>,
  work: Work<Spec, Answer>,
): RouteWork {
  const answer = async (req: Request, res: Response, address: string): Promise<Answer | Fault> => {
    const param = (name: string): string => paramOf(req, name);
    const query = row.query.parse(queryOf(req).toString());
    if (isFault(query)) return query;
    const { bytesMax } = row.body;
    const owner = { tenant: operator, address };
    const bytes =
      bytesMax === 0 ? empty : await readBody(res, { bytesMax, budget: door.bodyBudget, owner });
    if (isFault(bytes)) return bytes;
    const body = row.body.parse(bytes);
    return isFault(body) ? body : work({ param, query, body });
  };
  const isWrite = row.kind === "write";
  return async (req, res) => {
    const address = callerIp(req, door.trustedProxies);
    const stranger = door.checkOperator(onlyValueOf(req, "authorization"), address);
    if (stranger) return stranger;
    const answered = await (isWrite
      ? audited(door, req, address, () => answer(req, res, address))
      : answer(req, res, address));
    return isFault(answered) ? answered : secret(replyOf(answered, operator));
  };
}

/** One line in the log for each change, and for each that was tried. */
async function audited(
  door: Door,
  req: Request,
  address: string,
  change: () => Promise<Answer | Fault>,
): Promise<Answer | Fault> {
  const result = refusalOfOrigin(req.headers["sec-fetch-site"]) ?? (await change());
  const outcome = isFault(result) ? result.fault : "done";
  door.log.info("management.asked", { method: req.method, to: req.path, outcome, address });
  if (!isFault(result)) await tellOfChange(door);
  return result;
}

/** What was changed is changed, whether or not everybody could be told at once. */
const tellOfChange = ({ onChange, log }: Door): Promise<void> =>
  onChange().catch((error: unknown) => log.warn("accounts.stale", { error }));

/** Browsers keep a password and send it along with what other pages ask for; they say whose idea it was. */
function refusalOfOrigin(site: string | string[] | undefined): Fault | undefined {
  return site === undefined || site === "same-origin" || site === "none"
    ? undefined
    : fault("forbidden", "a page of another origin may not change anything");
}

/** Most answers hold secrets, and what is kept by caches is out of our hands. */
const secret = <R extends Reply | StreamedReply>(reply: R): R => ({
  ...reply,
  headers: [...(reply.headers ?? []), "Cache-Control", "no-store"],
});

function paramOf(req: Request, name: string): string {
  const value = req.params[name];
  return typeof value === "string" ? value : "";
}
