/** Tests the sessions of the operator's console, and what operators of each role may do (docs/management.md). */
import { describe, expect, it } from "@jest/globals";
import { managementEndpoints } from "@posthaste/contract";
import { rolesFor } from "@posthaste/domain";
import { Client } from "./client.ts";
import { objectOf, textOf } from "./json.ts";
import {
  basic,
  freshNetwork,
  newTenant,
  operatorEnv,
  operatorPassword,
  operatorUser,
  otherPasswords,
} from "./operator.ts";
import { developmentToken } from "./server-process.ts";
import { begin, enter, leave, type PageSession } from "./session.ts";
import { operator, server, startBeforeTests } from "./suite.ts";

startBeforeTests({ env: operatorEnv });

describe("a session of the operator's console", () => {
  const anonymous = () => new Client(server.managementPort, null);
  const authorization = basic(operatorUser, operatorPassword);

  it("has the operator's rights until it ends by signing out, and causes no password dialog of the browser", async () => {
    const [one, other] = [
      await begin(anonymous(), authorization),
      await begin(anonymous(), authorization),
    ];
    const name = newTenant();
    const made = await anonymous().call("POST", "/v2/tenants", one, `{"id":"${name}"}`);
    await leave(anonymous(), one);
    const [gone, there] = [
      await anonymous().get("/v2/tenants", one),
      await anonymous().get("/v2/tenants", other),
    ];

    expect([made.status, gone.status, there.status]).toEqual([201, 401, 200]);
    expect(gone.headers["www-authenticate"]).toBe("Session");
    expect((await enter(anonymous(), one)).object()).toEqual({});
  });

  it("begins with the password alone, gives no rights at the gateway, and a tenant's session gives none here", async () => {
    const gateway = new Client(server.port, null);
    const own = await begin(anonymous(), authorization);
    const tenants = await begin(gateway, `Bearer ${developmentToken}`);
    const wrong = { authorization: basic(operatorUser, "wrong"), ...freshNetwork() };
    const refused = await enter(anonymous(), { ...own, ...wrong });
    const renamed = (session: PageSession, name: string): PageSession => ({
      ...session,
      cookie: session.cookie.replace(/^[^=]*/, name),
    });

    expect([refused.status, refused.headers["www-authenticate"]]).toEqual([401, "Session"]);
    expect((await gateway.get("/v2/me", renamed(own, "posthaste-session"))).status).toBe(401);
    const asOperator = renamed(tenants, "posthaste-operator-session");
    expect((await anonymous().get("/v2/tenants", asOperator)).status).toBe(401);
  });

  it("403 is the answer to a page of another origin, and 401 to a request without the header of the page", async () => {
    const session = await begin(anonymous(), authorization);
    const { cookie } = session;

    const site = { ...session, "sec-fetch-site": "same-site" };
    expect((await anonymous().call("POST", "/v2/tenants", site, "{}")).status).toBe(403);
    expect((await anonymous().call("POST", "/v2/tenants", { cookie }, "{}")).status).toBe(401);
  });
});

describe("the role of an operator", () => {
  const anonymous = () => new Client(server.managementPort, null);
  const passwords = { admin: operatorPassword, ...otherPasswords };
  const users = { operator: "on-call", viewer: "auditor" } as const;
  const by = (role: "operator" | "viewer") => basic(users[role], passwords[users[role]]);

  it.each(["operator", "viewer"] as const)(
    "403 bounds %s to what the table of endpoints allows, by password and in a session",
    async (role) => {
      const session = await begin(anonymous(), by(role));
      for (const [operation, { kind, method, path }] of Object.entries(managementEndpoints)) {
        const url = path.replaceAll(/\{\w+\}/g, "none");
        const mayDo = rolesFor({ kind }).includes(role);
        for (const headers of [{ authorization: by(role) }, session]) {
          const reply = await anonymous().call(method.toUpperCase(), url, headers, "{}");

          expect({ operation, isRefused: reply.status === 403 }).toEqual({
            operation,
            isRefused: !mayDo,
          });
          if (!mayDo)
            expect(reply.error()).toMatch(
              new RegExp(`^this needs the role admin( or operator)?; this operator is ${role}$`),
            );
        }
      }
    },
  );

  it("is shown to the console at sign-in, and is in the audit log with signing in and out", async () => {
    const begun = await enter(anonymous(), { authorization: by("viewer") });
    const cookie = String(begun.headers["set-cookie"]).split(";", 1)[0] ?? "";
    const page = { cookie, "posthaste-session": textOf(begun.object()["session"]) };
    const again = await enter(anonymous(), { cookie });
    await leave(anonymous(), page);
    await leave(anonymous(), page);
    const changes = (await operator.get("/v2/audit/all?count=1000")).list("changes");
    const ofAuditor = changes.filter(({ by }) => objectOf(by)["id"] === "auditor");

    expect([begun, again].map((reply) => reply.object()["role"])).toEqual(["viewer", "viewer"]);
    const entry = {
      by: { kind: "operator", id: "auditor", role: "viewer", session: expect.any(String) },
      resource: "/console/session",
      result: "done",
    };
    expect(ofAuditor.slice(0, 2)).toMatchObject([
      { ...entry, operation: "signOut" },
      { ...entry, operation: "signIn" },
    ]);
  });

  it("403 is never the answer to a wrong password, and each password is for its own user alone", async () => {
    const mixed = basic("auditor", otherPasswords["on-call"]);
    const headers = { authorization: mixed, ...freshNetwork() };

    expect((await anonymous().get("/v2/tenants", headers)).status).toBe(401);
  });
});
