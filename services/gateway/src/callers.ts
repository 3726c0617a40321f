/**
 * Authenticates callers by a token or a session. A session grants what its token, or its group at the provider, grants, and for
 * as long.
 */
import { type IncomingMessage } from "node:http";
import { type GroupRight, isFault, isSessionOpen, withSessionEnded } from "@posthaste/domain";
import {
  type Authenticator,
  type Caller,
  hashOfBearer,
  isOfOtherOrigin,
  singleHeader,
  type Refusal,
  type Session,
  sessionHasEnded,
  sessionHeader,
  shortSessionId,
  type SessionKeeper,
  type Sessions,
} from "@posthaste/http";
import { type Accounts, type Clock } from "@posthaste/ports";
import { type Rates } from "./quota.ts";

/** `queryToken`: the value of `qstash_token`. */
export type CallerOf = (
  req: IncomingMessage,
  queryToken: string | undefined,
  address: string,
) => Caller | Refusal | Promise<Caller | Refusal>;

type CallerParts = {
  readonly authenticator: Pick<Authenticator, "authenticate" | "holderOf" | "openTenant">;
  readonly clock: Clock;
  /** The rights of a provider's groups, by the names that sessions have for them. */
  readonly groups: ReadonlyMap<string, GroupRight>;
};

/** Without `sessions` only tokens count. A request with a token counts by it, valid or not. */
export function createCallerOf(parts: CallerParts, sessions: Sessions | undefined): CallerOf {
  const { authenticator } = parts;
  return (req, queryToken, address) => {
    const { authorization, [sessionHeader]: named } = req.headers;
    if (sessions && named !== undefined && authorization === undefined && !queryToken)
      return callerIn(parts, sessions, req);
    const token = singleHeader(req, "authorization");
    return authenticator.authenticate(token, queryToken, address, isOfOtherOrigin(req));
  };
}

async function callerIn(
  parts: CallerParts,
  sessions: Sessions,
  req: IncomingMessage,
): Promise<Caller | Refusal> {
  const session = isOfOtherOrigin(req) ? "none" : sessions.named(req);
  if (typeof session === "string") return sessionHasEnded;
  return (await holderOf(parts, session)) ?? sessionHasEnded;
}

async function holderOf(parts: CallerParts, session: Session): Promise<Caller | undefined> {
  const { authenticator, clock } = parts;
  const { kind, of } = session.owner;
  const caller = kind === "token" ? await authenticator.holderOf(of) : memberOf(parts, of);
  if (!caller || !isSessionOpen(session, caller.tenant.endedSessions, clock.now()))
    return undefined;
  return { ...caller, by: { ...caller.by, session: shortSessionId(session) } };
}

function memberOf({ authenticator, groups }: CallerParts, group: string): Caller | undefined {
  const right = groups.get(group);
  const tenant = right && authenticator.openTenant(right.tenant);
  return tenant && { tenant, scope: right.scope, by: { kind: "group", id: group } };
}

type KeeperParts = CallerParts & {
  readonly accounts: Pick<Accounts, "changeTenant">;
  readonly rates: Rates;
  readonly refreshAccounts: () => Promise<void>;
};

export const createSessionKeeper = (parts: KeeperParts): SessionKeeper => ({
  enter: async (req, address) => {
    const token = singleHeader(req, "authorization");
    const caller = await parts.authenticator.authenticate(token, undefined, address);
    return isFault(caller) ? caller : { kind: "token", of: hashOfBearer(token) ?? "" };
  },
  holderOf: async (session) => {
    const caller = await holderOf(parts, session);
    return caller && { by: caller.by, tenant: caller.tenant.id };
  },
  end: async (session) => {
    const { accounts, clock, rates, refreshAccounts } = parts;
    const caller = await holderOf(parts, session);
    if (!caller) return undefined;
    const { tenant } = caller;
    const limited = rates.spendList(tenant);
    if (limited) return limited;
    await accounts.changeTenant(tenant.id, (stored) => ({
      ...stored,
      endedSessions: withSessionEnded(stored.endedSessions, session, clock.now()),
    }));
    await refreshAccounts();
    return undefined;
  },
});
