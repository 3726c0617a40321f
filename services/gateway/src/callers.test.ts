/** Two gateways over one store: each accepts the sessions that the other has begun, and refuses sessions that ended there. */
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import {
  defaultPlan,
  fault,
  isFault,
  sessionMs,
  tenantId,
  type TokenScope,
} from "@posthaste/domain";
import { type Embedded, openEmbedded } from "@posthaste/embedded";
import {
  type Authenticator,
  createAuthenticator,
  createSessions,
  sessionHasEnded,
  type SessionKeeper,
  type Sessions,
  tokenHash,
} from "@posthaste/http";
import { recordingLog, seededRandom, type VirtualClock, virtualClock } from "@posthaste/testing";
import { type CallerOf, createCallerOf, createSessionKeeper } from "./callers.ts";

const tenant = { id: tenantId("me"), dialect: "service", plan: defaultPlan } as const;
const keys = { current: "current", next: "next" };

type Gateway = {
  readonly authenticator: Authenticator;
  readonly callerOf: CallerOf;
  readonly keeper: SessionKeeper;
  readonly sessions: Sessions;
};

let clock: VirtualClock;
let store: Embedded;
let gateways: readonly [Gateway, Gateway];
let isLimited: boolean;
const random = seededRandom(1);

function gatewayOver(): Gateway {
  const { accounts } = store;
  const authenticator = createAuthenticator({ accounts, clock, log: recordingLog() });
  const sessions = createSessions({ audience: "tenant", secret: "secret", clock, random });
  const spend = () => (isLimited ? fault("too_many_requests", "too many") : undefined);
  const rates = { spendList: spend, spendMessages: () => undefined, spendExpression: spend };
  const refreshAccounts = () => authenticator.refresh();
  const groups = new Map([
    ["https://issuer.example ops", { tenant: tenant.id, scope: "read" as const }],
  ]);
  const parts = { accounts, authenticator, clock, groups, rates, refreshAccounts };
  const keeper = createSessionKeeper(parts);
  return { authenticator, callerOf: createCallerOf(parts, sessions), keeper, sessions };
}

beforeEach(async () => {
  clock = virtualClock();
  isLimited = false;
  store = openEmbedded({ dataDir: ":memory:", clock, random, log: recordingLog() });
  await store.accounts.addTenant({ ...tenant, keys });
  await add("token");
  gateways = [gatewayOver(), gatewayOver()];
  for (const { authenticator } of gateways) await authenticator.start();
});
afterEach(async () => {
  for (const { authenticator } of gateways) await authenticator.stop();
  await store.close();
});

const add = (token: string, scope: TokenScope = "full"): Promise<void> =>
  store.accounts.putToken({ hash: tokenHash(token), tenant: tenant.id, scope });

function requestWith(headers: Readonly<Record<string, string>>): IncomingMessage {
  const req = new IncomingMessage(new Socket());
  for (const [name, value] of Object.entries(headers)) req.rawHeaders.push(name, value);
  Object.assign(req.headers, headers);
  return req;
}

/** Returns a request of a page that has signed in at the first gateway. */
async function signedIn(token = "token"): Promise<IncomingMessage> {
  const [{ keeper, sessions }] = gateways;
  const owner = await keeper.enter(requestWith({ authorization: `Bearer ${token}` }), "");
  if (isFault(owner)) throw new Error(owner.text);
  const { session, setCookie } = sessions.begin(owner, true);
  const [cookie = ""] = setCookie.split(";");
  return requestWith({ cookie, "posthaste-session": session.id });
}

const asked = (nth: 0 | 1, req: IncomingMessage) => gateways[nth].callerOf(req, undefined, "");

async function end(req: IncomingMessage) {
  const [{ keeper, sessions }] = gateways;
  const session = sessions.named(req);
  if (typeof session === "string") throw new Error(`the session is ${session}`);
  return keeper.end(session);
}

describe("a session", () => {
  it("is good at every gateway at once, also where its token is new", async () => {
    await add("new", "read");
    const req = await signedIn("new");

    expect(await asked(0, req)).toMatchObject({ tenant: { id: "me" }, scope: "read" });
    expect(await asked(1, req)).toMatchObject({ tenant: { id: "me" }, scope: "read" });
  });

  it("that was signed out of is refused there at once, and at the other gateway within five seconds", async () => {
    const [req, other] = [await signedIn(), await signedIn()];
    await end(req);
    const there = await asked(0, req);
    await clock.advance(5_000);

    expect([there, await asked(1, req)]).toEqual([sessionHasEnded, sessionHasEnded]);
    expect(await asked(1, other)).toMatchObject({ scope: "full" });
  });

  it("ends with its token, and with its tenant", async () => {
    await add("other");
    const [req, other] = [await signedIn(), await signedIn("other")];
    await store.accounts.removeToken(tokenHash("token"));
    await clock.advance(5_000);
    const revoked = [await asked(1, req), isFault(await asked(1, other))];
    await store.accounts.changeTenant(tenant.id, (stored) => ({ ...stored, closedAt: 1 }));
    await clock.advance(5_000);

    expect(revoked).toEqual([sessionHasEnded, false]);
    expect(await asked(0, other)).toEqual(sessionHasEnded);
  });

  it("ends when its token expires", async () => {
    const expiring = { hash: tokenHash("brief"), tenant: tenant.id, scope: "full" } as const;
    await store.accounts.putToken({ ...expiring, expiresAt: clock.now() + 60_000 });
    const req = await signedIn("brief");
    const before = isFault(await asked(1, req));
    await clock.advance(60_000);

    expect([before, await asked(0, req), await asked(1, req)]).toEqual([
      false,
      sessionHasEnded,
      sessionHasEnded,
    ]);
  });

  it("of a group has the rights that the setting gives the group, and none if the setting does not name it", async () => {
    const [{ sessions }] = gateways;
    const of = async (group: string) => {
      const { session, setCookie } = sessions.begin({ kind: "group", of: group }, true);
      const [cookie = ""] = setCookie.split(";");
      return asked(1, requestWith({ cookie, "posthaste-session": session.id }));
    };

    expect(await of("https://issuer.example ops")).toMatchObject({ scope: "read" });
    for (const other of ["https://issuer.example other", "https://other.example ops", "ops", ""])
      expect(await of(other)).toEqual(sessionHasEnded);
  });

  it("is over after twelve hours, and signing out of it then writes nothing", async () => {
    const req = await signedIn();
    const [{ sessions }] = gateways;
    const session = sessions.named(req);
    await clock.advance(sessionMs);

    expect(await asked(0, req)).toEqual(sessionHasEnded);
    if (typeof session !== "string") await gateways[0].keeper.end(session);
    expect((await store.accounts.tenant(tenant.id))?.endedSessions).toBeUndefined();
  });

  it("is ended no more often than its tenant may list, and once", async () => {
    const req = await signedIn();
    isLimited = true;
    const limited = await end(req);
    isLimited = false;
    await end(req);
    await end(req);

    expect(limited).toMatchObject({ fault: "too_many_requests" });
    expect((await store.accounts.tenant(tenant.id))?.endedSessions?.each).toHaveLength(1);
  });
});
