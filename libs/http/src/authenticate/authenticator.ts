/**
 * Finds the tenant of a token. Owns a copy of all accounts in memory, at most five seconds old while the store
 * answers: a request costs one hash and one look into the copy, and a revoked token is valid no longer than that. A
 * refresh reads only changed accounts, and an unknown token is looked up in the store by its hash.
 *
 * Every failure except expiry is answered alike (docs/design/security#authentication): a caller does not learn what
 * was wrong with its token. A known token passes even from a network that has failed too often: tokens are too long
 * to be guessed, and neighbours must not be locked out.
 */
import {
  fault,
  type Fault,
  isFault,
  type Plan,
  type TenantId,
  type TokenScope,
} from "@posthaste/domain";
import {
  type AccountChanges,
  type Accounts,
  type Actor,
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
import { tokenHash, tokenIdOf } from "./credentials.ts";
import { createFailureLimit } from "./failure-limit.ts";

/** The caller, the scope of its token, and its name in the audit log. */
export type Caller = {
  readonly tenant: Tenant;
  readonly scope: TokenScope;
  readonly by: Actor;
};

export interface Authenticator extends Service {
  /**
   * Authenticates a request. `authorization` is the header's value, or undefined when there is none or more than one.
   * `queryToken` is the value of `qstash_token`, used when there is no header. Returns a promise only if an unknown
   * token is looked up, since the token may be new. Faults: `unauthorized`, `too_many_requests`.
   *
   * A page must not be able to lock its reader out. So a missing token is not counted as a failure and, if
   * `isOfOtherOrigin` is true, neither is an unknown one.
   */
  readonly authenticate: (
    authorization: string | undefined,
    queryToken: string | undefined,
    callerIp?: string,
    isOfOtherOrigin?: boolean,
  ) => Caller | Refusal | Promise<Caller | Refusal>;
  /**
   * Returns the caller whose token has this hash and has not expired; looks an unknown hash up, since the token may be new. A miss is
   * not counted as a failure.
   */
  holderOf(hash: string): Caller | Promise<Caller | undefined> | undefined;
  /** Returns the tenant as last read, or undefined when there is none or it is closed. */
  openTenant(id: TenantId): Tenant | undefined;
  /** Returns the plan as last read. */
  planOf(tenant: TenantId): Plan | undefined;
  /** Reports whether the tenant was closed when last read. */
  isClosed(tenant: TenantId): boolean;
  /** Returns false until a token has been read: on a first start management makes the first tenant. */
  knowsAnybody(): boolean;
  /** Reads the changes now, so that no request waits for a change made in this process. */
  refresh(): Promise<void>;
}

export type AuthenticatorOptions = {
  readonly accounts: Pick<
    Accounts,
    "changedSince" | "noteUses" | "tenant" | "tenantPage" | "token" | "tokenPage" | "tokensOf"
  >;
  readonly clock: Clock;
  readonly log: Log;
};

/** With the reading itself, less than the promised five seconds. */
const refreshMs = 4_000;
/** Used until a token is known: the first tenant must not wait that long. */
const firstRefreshMs = 250;
/** Bounds the look-ups, whatever the number of unknown tokens. */
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
  const uses = createTokenUses({ accounts, clock, log });
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

  /** Returns the caller of a known token, and notes the use, or says when the token has expired. */
  function admit(hash: string): Caller | Refusal | undefined {
    const entry = known.callers.get(hash);
    if (entry === undefined) return undefined;
    const { caller, expiresAt } = entry;
    if (expiresAt !== undefined && expiresAt <= clock.now()) return expired(expiresAt);
    uses.hashes.add(hash);
    return caller;
  }

  function holder(hash: string): Caller | undefined {
    const admitted = admit(hash);
    return admitted && !isFault(admitted) ? admitted : undefined;
  }

  /**
   * Looks a token up in the store. Returns undefined when the look-ups of this second are used up. Never rejects: a token that is not
   * found stays unknown.
   */
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
      uses.start();
    },
    stop: async () => {
      stopped = true;
      callOff();
      await uses.stop();
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
      known.callers.has(hash) ? holder(hash) : lookUp(hash)?.then(() => holder(hash)),
    authenticate: (authorization, queryToken, callerIp = "", isOfOtherOrigin = false) => {
      if (authorization === undefined && !queryToken) return unauthorized;
      const token = authorization === undefined ? queryToken : bearerToken(authorization);
      if (!token || token.length > tokenLengthMax)
        return isOfOtherOrigin ? unauthorized : refusalOf(callerIp);
      const hash = tokenHash(token);
      const caller = admit(hash);
      if (caller) return caller;
      if (isOfOtherOrigin) return unauthorized;
      if (failures.blockedSeconds(callerIp) !== undefined) return refusalOf(callerIp);
      const refused = (): Refusal => refusalOf(callerIp);
      return lookUp(hash)?.then(() => admit(hash) ?? refused()) ?? refused();
    },
  };
}

const unauthorized: Fault = fault("unauthorized", "the token is missing or unknown");

const expired = (at: number): Fault =>
  fault("unauthorized", `the token expired at ${new Date(at).toISOString()}`);

const tooManyFailures = (retryAfterSeconds: number): Refusal => ({
  ...fault("too_many_requests", "too many requests without a known token"),
  retryAfterSeconds,
});

type Known = {
  readonly callers: Map<string, { readonly caller: Caller; readonly expiresAt?: number }>;
  /** Tenants, with the hashes of their tokens in `callers`. */
  readonly tenants: Map<TenantId, { readonly tenant: Tenant; readonly hashes: string[] }>;
};

/** Adds a token. A token whose tenant is missing (or not there yet) or closed is left out. */
function know({ callers, tenants }: Known, { hash, scope, tenant: id, ...token }: Token): void {
  const account = tenants.get(id);
  if (!account || account.tenant.closedAt !== undefined) return;
  account.hashes.push(hash);
  const { expiresAt, name } = token;
  const by = { kind: "token", id: tokenIdOf(hash), ...(name !== undefined && { name }) } as const;
  const caller = { tenant: account.tenant, scope, by };
  callers.set(hash, { caller, ...(expiresAt !== undefined && { expiresAt }) });
}

/** Returns the hash of the token in this header, or undefined where there is none. */
export function hashOfBearer(authorization: string | undefined): string | undefined {
  const token = authorization === undefined ? undefined : bearerToken(authorization);
  return token ? tokenHash(token) : undefined;
}

/** Returns the text after one space; a token that contains a space is unknown. */
const bearerToken = (authorization: string): string | undefined =>
  authorization.length <= scheme.length + tokenLengthMax &&
  authorization.slice(0, scheme.length).toLowerCase() === scheme
    ? authorization.slice(scheme.length)
    : undefined;

const noteEveryMs = 60_000;
const hashesPerWriteMax = 1_000;

/**
 * Notes in the store which tokens were used. Owns the hashes of tokens used since the last note: a use costs a request one insert into
 * a set, and all uses of a minute are one write. A process that dies forgets the uses of its last minute.
 */
function createTokenUses({ accounts, clock, log }: AuthenticatorOptions) {
  /** Bounded by the number of tokens. */
  const used = new Set<string>();
  let isStopped = false;
  let callOff = (): void => undefined;

  function noteLater(): void {
    if (isStopped) return;
    callOff = clock.after(noteEveryMs, () => void note().finally(noteLater));
  }

  /** Never rejects: uses that cannot be noted now are noted with the next ones. */
  async function note(): Promise<void> {
    const at = clock.now();
    const hashes = [...used];
    used.clear();
    for (let from = 0; from < hashes.length; from += hashesPerWriteMax) {
      try {
        await accounts.noteUses(hashes.slice(from, from + hashesPerWriteMax), at);
      } catch (error) {
        for (const hash of hashes.slice(from)) used.add(hash);
        log.warn("token.uses_not_noted", { error });
        return;
      }
    }
  }

  return {
    hashes: used,
    start: noteLater,
    stop: async (): Promise<void> => {
      isStopped = true;
      callOff();
      await note();
    },
  };
}
