/**
 * From a token to its tenant. Owns a snapshot of all accounts in memory, at most five seconds old while the store
 * answers: a request costs one hash and one look-up, and a revoked token lives no longer than that.
 *
 * Every failure is answered alike (docs/design/security#authentication): a caller does not learn what was wrong with its token. A known
 * token passes even from a network that has failed too often: tokens are too long to be guessed, and neighbours are not
 * to be locked out.
 */
import { fault, type Fault, type Plan, type TenantId, type TokenScope } from "@posthaste/domain";
import {
  type Accounts,
  type Clock,
  type Log,
  type Service,
  type Tenant,
  type Token,
  untilAvailable,
} from "@posthaste/ports";
import { type Refusal } from "../answers/answers.ts";
import { tokenHash } from "./credentials.ts";
import { createFailureLimit } from "./failure-limit.ts";

/** The caller, and what its token is good for: `read` may not change anything. */
export type Caller = { readonly tenant: Tenant; readonly scope: TokenScope };

export interface Authenticator extends Service {
  /**
   * `authorization`: the header's value, undefined when there is none or more than one. `queryToken`: the value of
   * `qstash_token`, used when there is no header. A promise only where an unknown token makes it look again: the token
   * may be new. Faults: `unauthorized`, `too_many_requests`.
   *
   * Nothing that a page can make the browser of its reader send is counted as a failure: no token, and, where
   * `isOfOtherOrigin` is true, one that is not known.
   */
  readonly authenticate: (
    authorization: string | undefined,
    queryToken: string | undefined,
    callerIp?: string,
    isOfOtherOrigin?: boolean,
  ) => Caller | Refusal | Promise<Caller | Refusal>;
  /** As read last. */
  planOf(tenant: TenantId): Plan | undefined;
  /** As read last. */
  isClosed(tenant: TenantId): boolean;
  /** False until a token has been read: on a first start management makes the first tenant. */
  knowsAnybody(): boolean;
  /** Reads all accounts now: after a change in this process no request should wait. */
  refresh(): Promise<void>;
}

export type AuthenticatorOptions = {
  readonly accounts: Pick<Accounts, "tenants" | "tokens">;
  readonly clock: Clock;
  readonly log: Log;
};

/** With the reading itself less than the five seconds that are promised. */
const refreshMs = 4_000;
/** The first tenant is not to wait so long. */
const firstRefreshMs = 250;
/** However many unknown tokens come: that often they make it look again. */
const lookAgainMs = 1_000;
const tokenLengthMax = 1_024;
const scheme = "bearer ";

export function createAuthenticator({ accounts, clock, log }: AuthenticatorOptions): Authenticator {
  let callers: ReadonlyMap<string, Caller> = new Map();
  let tenants: ReadonlyMap<TenantId, Tenant> = new Map();
  let callOff = (): void => undefined;
  let stopped = false;
  let lastAsked = 0;
  let shown = 0;
  let looking: Promise<void> | undefined;
  let lookAgainAt = 0;
  const failures = createFailureLimit(clock);

  async function refresh(): Promise<void> {
    const asked = ++lastAsked;
    const [found, tokens] = await Promise.all([accounts.tenants(), accounts.tokens()]);
    // A slower, older reading must not undo a newer one.
    if (asked < shown) return;
    shown = asked;
    callers = callersOf(found, tokens);
    tenants = new Map(found.map((tenant) => [tenant.id, tenant]));
  }

  function refreshLater(): void {
    if (stopped) return;
    callOff = clock.after(callers.size > 0 ? refreshMs : firstRefreshMs, () => {
      void refresh()
        .catch((error: unknown) => log.warn("accounts.stale", { error }))
        .finally(refreshLater);
    });
  }

  /** Undefined when it has just been done. Never rejects: what is not found stays unknown. */
  function lookAgain(): Promise<void> | undefined {
    const now = clock.passedMs();
    if (looking || now < lookAgainAt) return looking;
    lookAgainAt = now + lookAgainMs;
    looking = refresh()
      .catch((error: unknown) => log.warn("accounts.stale", { error }))
      .finally(() => (looking = undefined));
    return looking;
  }

  function refusalOf(callerIp: string): Refusal {
    const seconds = failures.blockedSeconds(callerIp) ?? failures.failed(callerIp);
    return seconds === undefined ? unauthorized : tooManyFailures(seconds);
  }

  return {
    name: "authenticator",
    start: async () => {
      await untilAvailable(clock, refresh, () => stopped);
      refreshLater();
    },
    stop: async () => {
      stopped = true;
      callOff();
    },
    planOf: (id) => tenants.get(id)?.plan,
    isClosed: (id) => tenants.get(id)?.closedAt !== undefined,
    knowsAnybody: () => callers.size > 0,
    refresh,
    authenticate: (authorization, queryToken, callerIp = "", isOfOtherOrigin = false) => {
      if (authorization === undefined && !queryToken) return unauthorized;
      const token = authorization === undefined ? queryToken : bearerToken(authorization);
      if (!token || token.length > tokenLengthMax)
        return isOfOtherOrigin ? unauthorized : refusalOf(callerIp);
      const hash = tokenHash(token);
      const caller = callers.get(hash);
      if (caller) return caller;
      if (isOfOtherOrigin) return unauthorized;
      if (failures.blockedSeconds(callerIp) !== undefined) return refusalOf(callerIp);
      return (
        lookAgain()?.then(() => callers.get(hash) ?? refusalOf(callerIp)) ?? refusalOf(callerIp)
      );
    },
  };
}

const unauthorized: Fault = fault("unauthorized", "no or unknown token");

const tooManyFailures = (retryAfterSeconds: number): Refusal => ({
  ...fault("too_many_requests", "too many requests without a known token"),
  retryAfterSeconds,
});

/** A token whose tenant is not (or not yet) there, or is closed, proves nothing. */
function callersOf(
  tenants: readonly Tenant[],
  tokens: readonly Token[],
): ReadonlyMap<string, Caller> {
  const open = tenants.filter(({ closedAt }) => closedAt === undefined);
  const byId = new Map(open.map((tenant) => [tenant.id, tenant]));
  const callers = new Map<string, Caller>();
  for (const { hash, scope, tenant: id } of tokens) {
    const tenant = byId.get(id);
    if (tenant) callers.set(hash, { tenant, scope });
  }
  return callers;
}

/** What stands after one space; a token with a space of its own is simply unknown. */
const bearerToken = (authorization: string): string | undefined =>
  authorization.length <= scheme.length + tokenLengthMax &&
  authorization.slice(0, scheme.length).toLowerCase() === scheme
    ? authorization.slice(scheme.length)
    : undefined;
