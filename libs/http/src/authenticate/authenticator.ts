/**
 * From a token to its tenant. Owns a copy of all accounts in memory, at most five seconds old while the store answers: a
 * request costs one hash and one look into it, and a revoked token lives no longer than that. A refresh reads those alone
 * that were changed, and an unknown token is looked up in the store by its hash.
 *
 * Every failure is answered alike (docs/design/security#authentication): a caller does not learn what was wrong with its token. A known
 * token passes even from a network that has failed too often: tokens are too long to be guessed, and neighbours are not
 * to be locked out.
 */
import { fault, type Fault, type Plan, type TenantId, type TokenScope } from "@posthaste/domain";
import {
  type AccountChanges,
  type Accounts,
  type Clock,
  followAccounts,
  type Log,
  type Service,
  type Tenant,
  tenantPages,
  type Token,
  tokenPages,
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
   * `qstash_token`, used when there is no header. A promise only where an unknown token is looked up: the token may
   * be new. Faults: `unauthorized`, `too_many_requests`.
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
  /** The caller that has the token of this hash, looked up where the token may be new; undefined: there is none. A miss is counted as no failure. */
  holderOf(hash: string): Caller | Promise<Caller | undefined> | undefined;
  /** As read last; undefined: there is none, or it is closed. */
  openTenant(id: TenantId): Tenant | undefined;
  /** As read last. */
  planOf(tenant: TenantId): Plan | undefined;
  /** As read last. */
  isClosed(tenant: TenantId): boolean;
  /** False until a token has been read: on a first start management makes the first tenant. */
  knowsAnybody(): boolean;
  /** Reads now what was changed: after a change in this process no request should wait. */
  refresh(): Promise<void>;
}

export type AuthenticatorOptions = {
  readonly accounts: Pick<
    Accounts,
    "changedSince" | "tenant" | "tenantPage" | "token" | "tokenPage" | "tokensOf"
  >;
  readonly clock: Clock;
  readonly log: Log;
};

/** With the reading itself less than the five seconds that are promised. */
const refreshMs = 4_000;
/** The first tenant is not to wait so long. */
const firstRefreshMs = 250;
/** However many unknown tokens come. */
const lookUpsPerSecondMax = 100;
const tokenLengthMax = 1_024;
const scheme = "bearer ";

export function createAuthenticator({ accounts, clock, log }: AuthenticatorOptions): Authenticator {
  let known: Known = { callers: new Map(), tenants: new Map() };
  let callOff = (): void => undefined;
  let stopped = false;
  let lookUpsLeft = 0;
  let lookUpsUntil = Number.NEGATIVE_INFINITY;
  const failures = createFailureLimit(clock);
  const { look, refresh } = followAccounts(accounts, read);

  async function read(ids: AccountChanges["tenants"]): Promise<void> {
    if (ids === "all") {
      const all: Known = { callers: new Map(), tenants: new Map() };
      for await (const page of tenantPages(accounts))
        for (const tenant of page) all.tenants.set(tenant.id, { tenant, hashes: [] });
      for await (const page of tokenPages(accounts)) for (const token of page) know(all, token);
      known = all;
      return;
    }
    const found = await Promise.all(
      ids.map(async (id) => [await accounts.tenant(id), await accounts.tokensOf(id)] as const),
    );
    for (const [tenant, tokens] of found) {
      if (!tenant) continue;
      for (const hash of known.tenants.get(tenant.id)?.hashes ?? []) known.callers.delete(hash);
      known.tenants.set(tenant.id, { tenant, hashes: [] });
      for (const token of tokens) know(known, token);
    }
  }

  function refreshLater(): void {
    if (stopped) return;
    callOff = clock.after(known.callers.size > 0 ? refreshMs : firstRefreshMs, () => {
      void refresh()
        .catch((error: unknown) => log.warn("accounts.stale", { error }))
        .finally(refreshLater);
    });
  }

  /** Undefined where this second has had its look-ups. Never rejects: what is not found stays unknown. */
  function lookUp(hash: string): Promise<void> | undefined {
    const now = clock.passedMs();
    if (now >= lookUpsUntil) {
      lookUpsUntil = now + 1_000;
      lookUpsLeft = lookUpsPerSecondMax;
    }
    if (lookUpsLeft === 0) return undefined;
    lookUpsLeft--;
    return learn(hash).catch((error: unknown) => {
      lookUpsLeft = 0;
      log.warn("accounts.stale", { error });
    });
  }

  async function learn(hash: string): Promise<void> {
    const token = await accounts.token(hash);
    if (token) await look(token.tenant);
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
    openTenant: (id) => {
      const tenant = known.tenants.get(id)?.tenant;
      return tenant?.closedAt === undefined ? tenant : undefined;
    },
    planOf: (id) => known.tenants.get(id)?.tenant.plan,
    isClosed: (id) => known.tenants.get(id)?.tenant.closedAt !== undefined,
    knowsAnybody: () => known.callers.size > 0,
    refresh,
    holderOf: (hash) =>
      known.callers.get(hash) ?? lookUp(hash)?.then(() => known.callers.get(hash)),
    authenticate: (authorization, queryToken, callerIp = "", isOfOtherOrigin = false) => {
      if (authorization === undefined && !queryToken) return unauthorized;
      const token = authorization === undefined ? queryToken : bearerToken(authorization);
      if (!token || token.length > tokenLengthMax)
        return isOfOtherOrigin ? unauthorized : refusalOf(callerIp);
      const hash = tokenHash(token);
      const caller = known.callers.get(hash);
      if (caller) return caller;
      if (isOfOtherOrigin) return unauthorized;
      if (failures.blockedSeconds(callerIp) !== undefined) return refusalOf(callerIp);
      const refused = (): Refusal => refusalOf(callerIp);
      return lookUp(hash)?.then(() => known.callers.get(hash) ?? refused()) ?? refused();
    },
  };
}

const unauthorized: Fault = fault("unauthorized", "no or unknown token");

const tooManyFailures = (retryAfterSeconds: number): Refusal => ({
  ...fault("too_many_requests", "too many requests without a known token"),
  retryAfterSeconds,
});

type Known = {
  readonly callers: Map<string, Caller>;
  /** With the hashes of those tokens that are callers. */
  readonly tenants: Map<TenantId, { readonly tenant: Tenant; readonly hashes: string[] }>;
};

/** A token whose tenant is not (or not yet) there, or is closed, proves nothing. */
function know({ callers, tenants }: Known, { hash, scope, tenant: id }: Token): void {
  const account = tenants.get(id);
  if (!account || account.tenant.closedAt !== undefined) return;
  account.hashes.push(hash);
  callers.set(hash, { tenant: account.tenant, scope });
}

/** The hash of the token in this header; undefined where there is none. */
export function hashOfBearer(authorization: string | undefined): string | undefined {
  const token = authorization === undefined ? undefined : bearerToken(authorization);
  return token ? tokenHash(token) : undefined;
}

/** What stands after one space; a token with a space of its own is simply unknown. */
const bearerToken = (authorization: string): string | undefined =>
  authorization.length <= scheme.length + tokenLengthMax &&
  authorization.slice(0, scheme.length).toLowerCase() === scheme
    ? authorization.slice(scheme.length)
    : undefined;
