import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { defaultPlan, isFault, tenantId, type TokenScope } from "@posthaste/domain";
import { type Tenant, type Token } from "@posthaste/ports";
import { recordingLog, type VirtualClock, virtualClock } from "@posthaste/testing";
import { type Authenticator, createAuthenticator } from "./authenticator.ts";
import { developmentUsers, tokenHash } from "./credentials.ts";

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
let tenants: Tenant[];
let tokens: Token[];
let answers: () => Promise<Token[]>;
let authenticator: Authenticator;
const log = recordingLog();

beforeEach(async () => {
  clock = virtualClock();
  tenants = [tenant];
  tokens = [tokenFor("secret"), tokenFor("reader", "read")];
  answers = async () => [...tokens];
  const accounts = { tenants: async () => tenants, tokens: () => answers() };
  authenticator = createAuthenticator({ accounts, clock, log });
  await authenticator.start();
});

afterEach(async () => {
  await authenticator.stop();
  expect(clock.armed).toBe(0);
});

const unauthorized = { fault: "unauthorized", text: "no or unknown token" };

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
    });
  });

  it("tells its scope", async () => {
    expect(await authenticator.authenticate("Bearer reader", undefined)).toEqual({
      tenant,
      scope: "read",
    });
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

describe("the snapshot", () => {
  it("forgets a revoked token within five seconds", async () => {
    tokens = [];
    await clock.advance(5_000);

    expect(await authenticator.authenticate("Bearer secret", undefined)).toEqual(unauthorized);
  });

  it("knows which tenants are closed", async () => {
    const closed = { ...tenant, id: tenantId("closed"), closedAt: 1 };
    tenants.push(closed);
    await authenticator.refresh();

    const answers = [tenant.id, closed.id, tenantId("none")].map((id) =>
      authenticator.isClosed(id),
    );
    expect(answers).toEqual([false, true, false]);
  });

  it("learns of a new token at once when told to look", async () => {
    tokens.push(tokenFor("new"));
    await authenticator.refresh();

    expect(await authenticator.authenticate("Bearer new", undefined)).toMatchObject({
      scope: "full",
    });
  });

  it("lets in no caller of a closed tenant, whatever tokens there are", async () => {
    tenants = [{ ...tenant, closedAt: clock.now() }];
    await clock.advance(5_000);

    expect(await authenticator.authenticate("Bearer secret", undefined)).toEqual(unauthorized);
    expect(await authenticator.authenticate("Bearer reader", undefined)).toEqual(unauthorized);
  });

  it("stays as it is while the store does not answer, says so, and goes on asking", async () => {
    answers = async () => {
      throw new Error("no store");
    };
    await clock.advance(20_000);
    expect(await authenticator.authenticate("Bearer secret", undefined)).toMatchObject({
      scope: "full",
    });
    expect(log.events()).toContain("accounts.stale");

    answers = async () => [];
    await clock.advance(5_000);
    expect(await authenticator.authenticate("Bearer secret", undefined)).toEqual(unauthorized);
  });

  it("is not undone by an older reading that took longer", async () => {
    let finishOld = (_: Token[]): void => undefined;
    const old = new Promise<Token[]>((resolve) => (finishOld = resolve));
    answers = () => old;
    const slow = authenticator.refresh();
    answers = async () => [];
    await authenticator.refresh();
    finishOld([tokenFor("secret")]);
    await slow;

    expect(await authenticator.authenticate("Bearer secret", undefined)).toEqual(unauthorized);
  });
});

describe("a token that was made a moment ago", () => {
  const asked = async (token: string) => authenticator.authenticate(`Bearer ${token}`, undefined);

  it("is found by the first request that brings it", async () => {
    tokens.push(tokenFor("new"));

    expect(await asked("new")).toMatchObject({ scope: "full" });
    expect(authenticator.authenticate("Bearer new", undefined)).toMatchObject({ scope: "full" });
  });

  it("costs one look a second, however many unknown ones come", async () => {
    let looks = 0;
    answers = async () => {
      looks++;
      return [...tokens];
    };
    for (let i = 0; i < 5; i++) await Promise.all(["a", "b", "c"].map(asked));
    expect(looks).toBe(1);
    await clock.advance(1_000);
    tokens.push(tokenFor("c"));

    const [, second, third] = await Promise.all(["a", "b", "c"].map(asked));
    expect(looks).toBe(2);
    expect([second, third]).toMatchObject([{ fault: "too_many_requests" }, { scope: "full" }]);
  });

  it("stays unknown while the store does not answer", async () => {
    answers = async () => {
      throw new Error("no store");
    };

    expect(await asked("new")).toEqual(unauthorized);
  });
});

describe("guessing", () => {
  const guess = (ip: string) => authenticator.authenticate("Bearer wrong", undefined, ip);
  const guesses = async (ip: string, count: number): Promise<void> => {
    for (let i = 0; i < count; i++) expect(await guess(ip)).toEqual(unauthorized);
  };

  it("is told to stay away after ten failures in a minute, with a time", async () => {
    await guesses("203.0.113.1", 10);

    expect(await guess("203.0.113.200")).toMatchObject({
      fault: "too_many_requests",
      retryAfterSeconds: 1,
    });
  });

  it("is not what a page can make its reader's browser send: no token, or from another origin an unknown one", async () => {
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
