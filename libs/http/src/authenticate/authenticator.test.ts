import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { defaultPlan, isFault, tenantId, type TokenScope } from "@posthaste/domain";
import {
  type Accounts,
  changesOf,
  noChangedAccounts,
  type Tenant,
  type Token,
  withChanged,
} from "@posthaste/ports";
import { recordingLog, type VirtualClock, virtualClock } from "@posthaste/testing";
import {
  type Authenticator,
  type AuthenticatorOptions,
  createAuthenticator,
} from "./authenticator.ts";
import { developmentUsers, tokenHash, tokenIdOf } from "./credentials.ts";

const tenant: Tenant = {
  id: tenantId("me"),
  dialect: "service",
  plan: defaultPlan,
  keys: { current: "sig_1", next: "sig_2" },
};
const tokenFor = (token: string, scope: TokenScope = "full"): Token => ({
  hash: tokenHash(token),
  tenant: tenant.id,
  scope,
});

let clock: VirtualClock;
let tenants: readonly Tenant[];
let tokens: readonly Token[];
let changed = noChangedAccounts;
let calls: string[];
let noted: (readonly [hashes: readonly string[], at: number])[];
let beforeCall: () => Promise<void>;
let authenticator: Authenticator;
const log = recordingLog();

/** Changes the store, and marks the tenant as changed for readers. */
function change(to: { readonly tenants?: Tenant[]; readonly tokens?: Token[] }): void {
  tenants = to.tenants ?? tenants;
  tokens = to.tokens ?? tokens;
  changed = withChanged(changed, tenant.id);
}

const add = (token: Token): void => change({ tokens: [...tokens, token] });

function accountsOf(): AuthenticatorOptions["accounts"] {
  const page = <T>(items: readonly T[], after: string): readonly T[] => (after === "" ? items : []);
  const called = async <T>(name: keyof Accounts, answer: () => T): Promise<T> => {
    calls.push(name);
    const answered = answer();
    await beforeCall();
    return answered;
  };
  return {
    changedSince: (mark) =>
      called("changedSince", () => ({
        mark: { version: changed.version },
        tenants: changesOf(changed, mark?.version),
      })),
    noteUses: (hashes, at) =>
      called("noteUses", () => {
        noted.push([hashes, at]);
      }),
    tenant: (id) => called("tenant", () => tenants.find((known) => known.id === id)),
    tenantPage: ({ after }) => called("tenantPage", () => page(tenants, after)),
    token: (hash) => called("token", () => tokens.find((known) => known.hash === hash)),
    tokenPage: ({ after }) => called("tokenPage", () => page(tokens, after)),
    tokensOf: (id) => called("tokensOf", () => tokens.filter((known) => known.tenant === id)),
  };
}

const storeIsAway = async (): Promise<void> => {
  throw new Error("no store");
};

beforeEach(async () => {
  clock = virtualClock();
  tenants = [tenant];
  tokens = [tokenFor("secret"), tokenFor("reader", "read")];
  changed = noChangedAccounts;
  noted = [];
  beforeCall = async () => undefined;
  authenticator = createAuthenticator({ accounts: accountsOf(), clock, log });
  calls = [];
  await authenticator.start();
  calls = [];
});

afterEach(async () => {
  await authenticator.stop();
  expect(clock.armed).toBe(0);
});

const unauthorized = { fault: "unauthorized", text: "the token is missing or unknown" };

describe("a known token", () => {
  it.each([
    ["in the header", "Bearer secret", undefined],
    ["with the scheme in lower case", "bearer secret", undefined],
    ["in the query", undefined, "secret"],
    ["in the header, whatever the query says", "Bearer secret", "wrong"],
  ])("%s is its tenant's", async (_, authorization, queryToken) => {
    expect(await authenticator.authenticate(authorization, queryToken)).toEqual({
      tenant,
      scope: "full",
      by: { kind: "token", id: tokenIdOf(tokenHash("secret")) },
    });
  });

  it("gives its scope", async () => {
    expect(await authenticator.authenticate("Bearer reader", undefined)).toMatchObject({
      tenant,
      scope: "read",
    });
  });
});

describe("a token that expires", () => {
  const asked = async (token: string) => authenticator.authenticate(`Bearer ${token}`, undefined);

  it("is good until then, and then refused with the time, which is no failed guess", async () => {
    const expiresAt = clock.now() + 10_000;
    add({ ...tokenFor("brief"), expiresAt });
    await authenticator.refresh();
    await clock.advance(9_999);
    expect(await asked("brief")).toMatchObject({ scope: "full" });
    await clock.advance(1);

    for (let i = 0; i < 20; i++)
      expect(await asked("brief")).toEqual({
        fault: "unauthorized",
        text: `the token expired at ${new Date(expiresAt).toISOString()}`,
      });
    expect(authenticator.holderOf(tokenHash("brief"))).toBeUndefined();
    expect(await asked("wrong")).toEqual(unauthorized);
  });

  it("and had expired before this process knew of it is refused alike", async () => {
    tokens = [...tokens, { ...tokenFor("late"), expiresAt: 1 }];

    expect(await asked("late")).toMatchObject({
      text: "the token expired at 1970-01-01T00:00:00.001Z",
    });
  });
});

describe("the use of a token", () => {
  const use = async (token: string) => authenticator.authenticate(`Bearer ${token}`, undefined);

  it("is noted once a minute, by one write for all, and by none if no token was used", async () => {
    for (let i = 0; i < 1_000; i++) {
      await use("secret");
      await use("reader");
      await use("wrong");
    }
    expect(noted).toEqual([]);
    await clock.advance(60_000);
    await clock.advance(60_000);

    expect(noted).toEqual([[[tokenHash("secret"), tokenHash("reader")], expect.any(Number)]]);
  });

  it("is noted later where the store does not answer, and at the end", async () => {
    await use("secret");
    beforeCall = storeIsAway;
    await clock.advance(60_000);
    beforeCall = async () => undefined;
    noted = [];
    await authenticator.stop();

    expect(noted.map(([hashes]) => hashes)).toEqual([[tokenHash("secret")]]);
    expect(log.events()).toContain("token.uses_not_noted");
  });
});

describe("everything else", () => {
  it.each([
    ["nothing", undefined, undefined],
    ["an empty header", "", undefined],
    ["an empty header and a good query", "", "secret"],
    ["a scheme alone", "Bearer", undefined],
    ["a scheme and a space", "Bearer ", undefined],
    ["two spaces", "Bearer  secret", undefined],
    ["a tab", "Bearer\tsecret", undefined],
    ["a space behind", "Bearer secret ", undefined],
    ["the token without a scheme", "secret", undefined],
    ["Basic", "Basic c2VjcmV0", undefined],
    ["Basic with the token", "Basic secret", undefined],
    ["two tokens in one header", "Bearer secret, Bearer secret", undefined],
    ["another token", "Bearer Secret", undefined],
    ["a beginning of the token", "Bearer secre", undefined],
    ["the hash of the token", `Bearer ${tokenHash("secret")}`, undefined],
    ["8 KiB", `Bearer ${"s".repeat(8192)}`, undefined],
    ["8 KiB in the query", undefined, "s".repeat(8192)],
    ["a NUL", "Bearer secret\0", undefined],
    ["letters beyond ASCII", "Bearer sécret", undefined],
    ["an empty query", undefined, ""],
    ["base64 of a colon", "Bearer Og==", undefined],
    ["a public development token", `Bearer ${developmentUsers[0].token}`, undefined],
  ])("%s is answered alike", async (_, authorization, queryToken) => {
    expect(await authenticator.authenticate(authorization, queryToken)).toEqual(unauthorized);
  });
});

describe("the copy", () => {
  it("costs one call each four seconds while nothing is changed", async () => {
    await clock.advance(60_000);

    expect(calls).toEqual(Array.from({ length: 15 }, () => "changedSince"));
  });

  it("reads only the changed accounts", async () => {
    const other = { ...tenant, id: tenantId("other") };
    tenants = [tenant, other];
    add(tokenFor("new"));
    await clock.advance(4_000);

    expect(calls).toEqual(["changedSince", "tenant", "tokensOf"]);
    expect(authenticator.planOf(other.id)).toBeUndefined();
  });

  it("is read as a whole if more was changed than the store distinguishes", async () => {
    for (let n = 0; n < 1_000; n++) add(tokenFor(`new ${n}`));
    await clock.advance(4_000);

    expect(calls).toEqual(["changedSince", "tenantPage", "tenantPage", "tokenPage", "tokenPage"]);
    expect(authenticator.authenticate("Bearer new 999", undefined)).toMatchObject({ tenant });
  });

  it("forgets a revoked token within five seconds", async () => {
    change({ tokens: [] });
    await clock.advance(5_000);

    expect(await authenticator.authenticate("Bearer secret", undefined)).toEqual(unauthorized);
  });

  it("knows which tenants are closed", async () => {
    const closed = { ...tenant, id: tenantId("closed"), closedAt: 1 };
    tenants = [tenant, closed];
    changed = withChanged(changed, closed.id);
    await authenticator.refresh();

    const answers = [tenant.id, closed.id, tenantId("none")].map((id) =>
      authenticator.isClosed(id),
    );
    expect(answers).toEqual([false, true, false]);
  });

  it("has a new token at once when a look is requested", async () => {
    add(tokenFor("new"));
    await authenticator.refresh();

    expect(authenticator.authenticate("Bearer new", undefined)).toMatchObject({
      scope: "full",
    });
  });

  it("admits no caller of a closed tenant, whatever tokens exist", async () => {
    change({ tenants: [{ ...tenant, closedAt: clock.now() }] });
    await clock.advance(5_000);

    expect(await authenticator.authenticate("Bearer secret", undefined)).toEqual(unauthorized);
    expect(await authenticator.authenticate("Bearer reader", undefined)).toEqual(unauthorized);
  });

  it("is unchanged while the store does not answer, reports that, and is read again until it answers", async () => {
    beforeCall = storeIsAway;
    change({ tokens: [] });
    await clock.advance(20_000);
    expect(await authenticator.authenticate("Bearer secret", undefined)).toMatchObject({
      scope: "full",
    });
    expect(log.events()).toContain("accounts.stale");

    beforeCall = async () => undefined;
    await clock.advance(5_000);
    expect(await authenticator.authenticate("Bearer secret", undefined)).toEqual(unauthorized);
  });

  it("is not undone by an older reading that took longer", async () => {
    add(tokenFor("new"));
    const held = Promise.withResolvers<void>();
    beforeCall = () => held.promise;
    const slow = authenticator.refresh();
    await clock.advance(0);
    change({ tokens: [] });
    beforeCall = async () => undefined;
    const newer = [authenticator.refresh(), authenticator.refresh()];
    held.resolve();
    await Promise.all([slow, ...newer]);

    expect(await authenticator.authenticate("Bearer secret", undefined)).toEqual(unauthorized);
  });
});

describe("a token that was made a moment ago", () => {
  const asked = async (token: string) => authenticator.authenticate(`Bearer ${token}`, undefined);

  it("is found by the first request that brings it, whether or not the store announces it", async () => {
    tokens = [...tokens, tokenFor("new")];

    expect(await asked("new")).toMatchObject({ scope: "full" });
    expect(authenticator.authenticate("Bearer new", undefined)).toMatchObject({ scope: "full" });
    expect(calls).toEqual(["token", "tenant", "tokensOf"]);
  });

  it("is looked up by its hash, a hundred times a second however many unknown ones come", async () => {
    const guess = async (n: number) =>
      authenticator.authenticate(`Bearer wrong ${n}`, undefined, `203.0.${n}.1`);
    const guesses = () => Promise.all(Array.from({ length: 250 }, (_, n) => guess(n)));

    await guesses();
    expect(calls).toEqual(Array.from({ length: 100 }, () => "token"));
    await clock.advance(1_000);
    await guesses();

    expect(calls).toHaveLength(200);
  });

  it("stays unknown while the store does not answer, which is then asked once a second", async () => {
    beforeCall = storeIsAway;

    expect(await asked("new")).toEqual(unauthorized);
    expect(await asked("new")).toEqual(unauthorized);
    expect(calls).toEqual(["token"]);
  });
});

describe("guessing", () => {
  const guess = (ip: string) => authenticator.authenticate("Bearer wrong", undefined, ip);
  const guesses = async (ip: string, count: number): Promise<void> => {
    for (let i = 0; i < count; i++) expect(await guess(ip)).toEqual(unauthorized);
  };

  it("is refused after ten failures in a minute, with a time", async () => {
    await guesses("203.0.113.1", 10);

    expect(await guess("203.0.113.200")).toMatchObject({
      fault: "too_many_requests",
      retryAfterSeconds: 1,
    });
  });

  it("is not a request that a page can make a browser send: without a token, or from another origin with an unknown one", async () => {
    for (let i = 0; i < 100; i++) {
      expect(await authenticator.authenticate(undefined, undefined, "203.0.113.1")).toEqual(
        unauthorized,
      );
      expect(await authenticator.authenticate(undefined, "", "203.0.113.1")).toEqual(unauthorized);
      expect(await authenticator.authenticate(undefined, "wrong", "203.0.113.1", true)).toEqual(
        unauthorized,
      );
    }

    expect(await authenticator.authenticate(undefined, "secret", "203.0.113.1", true)).toEqual({
      tenant,
      scope: "full",
      by: { kind: "token", id: tokenIdOf(tokenHash("secret")) },
    });
    await guesses("203.0.113.1", 10);
  });

  it("does not keep out a neighbour that has a token, nor other networks", async () => {
    for (let i = 0; i < 20; i++) await guess("203.0.113.1");

    const neighbour = await authenticator.authenticate("Bearer secret", undefined, "203.0.113.2");
    expect(isFault(neighbour)).toBe(false);
    expect(await guess("203.0.114.1")).toEqual(unauthorized);
  });
});
