/** What every request passes on its way in, whichever route it takes: load, caller, rights. */
import { type Fault, fault, isFault } from "@posthaste/domain";
import { type Tenant } from "@posthaste/ports";
import {
  type AddressSet,
  type Admission,
  type Answers,
  type Authenticator,
  type BodyBudget,
  type Caller,
  callerIp,
  onlyValueOf,
  queryOf,
  readBody,
  type Reply,
  type RequestKind,
  type Work,
} from "@posthaste/runtime";

export type Door = {
  readonly answers: Answers;
  readonly admission: Admission;
  readonly bodyBudget: BodyBudget;
  readonly trustedProxies: AddressSet;
  readonly authenticate: Authenticator["authenticate"];
  readonly checkDestination: (url: string, field: string) => Fault | undefined;
};

/** A read-only token is refused whatever changes something. */
export const mayWrite = ({ scope }: Caller): Fault | undefined =>
  scope === "read" ? fault("forbidden", "this token may only read") : undefined;

type Request = Parameters<Work>[0];

export type Visit = {
  readonly tenant: Tenant;
  /** What follows the `?`, without our own token. */
  readonly search: string;
  param: (name: string) => string;
  body: (bytesMax: number) => Promise<Uint8Array | Fault>;
};

/** A route's work for a caller who was let in: reads with any token of the tenant, everything else with a full one. */
export function admitted(
  door: Door,
  kind: Exclude<RequestKind, "publish" | "health">,
  work: (visit: Visit) => Promise<Reply | Fault>,
): Work {
  return async (req, res) => {
    const crowded = door.admission.refuse(kind);
    if (crowded) return crowded;
    const query = queryOf(req);
    const queryToken = query.get("qstash_token") ?? undefined;
    query.delete("qstash_token");
    const address = callerIp(req, door.trustedProxies);
    const caller = door.authenticate(onlyValueOf(req, "authorization"), queryToken, address);
    if (isFault(caller)) return caller;
    const refused = kind === "write" ? mayWrite(caller) : undefined;
    if (refused) return refused;
    return work({
      tenant: caller.tenant,
      search: query.toString(),
      param: (name) => paramOf(req, name),
      body: (bytesMax) => readBody(res, { bytesMax, budget: door.bodyBudget }),
    });
  };
}

function paramOf(req: Request, name: string): string {
  const value = req.params[name];
  return typeof value === "string" ? value : "";
}
