/** Tests signing in to the consoles by an OpenID provider (docs/design/security#authentication). */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { Client } from "./client.ts";
import { startServer, type TestServer } from "./server.ts";
import { clientSecret, IdentityProvider } from "./identity-provider.ts";
import { textOf } from "./json.ts";
import { freshNetwork, operatorEnv } from "./operator.ts";
import { enter, leave, type PageSession } from "./session.ts";
import { Visitor } from "./sign-in-by-provider.ts";
import { firstUser } from "./users.ts";

let server: TestServer;
let anonymous: Client;
let provider: IdentityProvider;

const consoleUrl = "https://posthaste.example/console/";
const operatorUrl = "https://ops.example/console/";
const wayBack = (console: string): string => `${console}sign-in/back`;

beforeAll(async () => {
  provider = await IdentityProvider.start([consoleUrl, operatorUrl].map(wayBack));
  server = await startServer({
    env: {
      ...operatorEnv,
      ...provider.env,
      POSTHASTE_LOG_LEVEL: "debug",
      POSTHASTE_CONSOLE_URL: consoleUrl,
      POSTHASTE_OIDC_TENANTS: `ops team=${firstUser.userId}, lookers=${firstUser.userId}:read, gone=nobody`,
      POSTHASTE_MANAGEMENT_CONSOLE_URL: operatorUrl,
      POSTHASTE_OIDC_OPERATORS: "auditors=viewer, operators",
    },
  });
  anonymous = new Client(server.port, null);
});
afterAll(async () => {
  await server.stop();
  await provider.stop();
});

/** Each caller has a network of its own, so that the failures of one do not get another refused. */
const network = (): string => freshNetwork()["x-forwarded-for"];

describe("signing in by an identity provider", () => {
  const visitor = (address = network()): Visitor =>
    new Visitor(consoleUrl, `http://127.0.0.1:${server.port}`, address);
  const start = `${consoleUrl}sign-in`;
  /** Returns the browser, and the way back from the provider, with `change` applied to the way there. */
  async function atWayBack(change: (there: URL) => void = () => undefined) {
    const browser = visitor();
    const there = new URL((await browser.go(start)) ?? "");
    change(there);
    return { browser, back: await browser.follow(there.href, wayBack(consoleUrl)) };
  }
  /** Signs in a person of these groups. Returns the last address of the browser, and the console's session. */
  async function signedIn(groups: readonly string[]) {
    provider.is({ groups });
    const { browser, back } = await atWayBack();
    const end = await browser.go(back);
    return { browser, end, session: await sessionOf(browser) };
  }
  async function sessionOf(browser: Visitor): Promise<PageSession | undefined> {
    const cookie = browser.cookie();
    const headers = { cookie, "x-forwarded-proto": "https" };
    const { session } = (await enter(anonymous, headers)).object();
    return session === undefined ? undefined : { cookie, "posthaste-session": textOf(session) };
  }
  const refused = (why: string): string => `${consoleUrl}?sign-in=${why}`;

  it("begins a session with the rights of the first matching group of the setting, in a Secure cookie", async () => {
    const { browser, end, session } = await signedIn(["lookers", "ops team", "others"]);

    expect(end).toBe(consoleUrl);
    expect((await anonymous.get("/v2/me", session)).object()).toMatchObject({
      ...{ tenant: firstUser.userId, scope: "full" },
    });
    expect(browser.setCookies[0]).toMatch(
      /^__Host-posthaste-sign-in-=\w{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
    );
    expect(browser.setCookies).toContainEqual(
      expect.stringMatching(/^__Host-posthaste-session=.*; HttpOnly; SameSite=Strict; Secure$/),
    );
  });

  it("403 gives a group that may only read no right to change anything, and signing out ends the session", async () => {
    const { session } = await signedIn(["lookers"]);
    const url = "http://127.0.0.1:9/refused";
    const wrote = await anonymous.post(`/v2/publish/${url}`, session);
    const read = await anonymous.get("/v2/me", session);
    if (session) await leave(anonymous, session);

    expect([wrote.status, read.object()["scope"]]).toEqual([403, "read"]);
    expect((await anonymous.get("/v2/me", session)).status).toBe(401);
  });

  it.each([
    ["operators", "admin", 400],
    ["auditors", "viewer", 403],
  ])(
    "begins a session of the group %s as %s at management, and none at the gateway",
    async (group, role, status) => {
      const behind = `http://127.0.0.1:${server.managementPort}`;
      const operator = new Visitor(operatorUrl, behind, network());
      provider.is({ groups: [group] });
      const back = await operator.follow(`${operatorUrl}sign-in`, wayBack(operatorUrl));
      const end = await operator.go(back);
      const management = new Client(server.managementPort, null);
      const headers = { cookie: operator.cookie(), origin: new URL(operatorUrl).origin };
      const entered = (await enter(management, headers)).object();
      const page = {
        cookie: operator.cookie(),
        "posthaste-session": textOf(entered["session"]),
      };

      expect([end, entered["role"]]).toEqual([operatorUrl, role]);
      expect((await management.get("/v2/tenants", page)).status).toBe(200);
      expect((await management.call("POST", "/v2/tenants", page, "{}")).status).toBe(status);
      expect((await signedIn([group])).end).toBe(refused("no-group"));
    },
  );

  it.each([[[]], [["strangers"]], [["Ops Team", "ops team ", "ops"]]])(
    "begins no session for a person in none of the groups: %j",
    async (groups) => {
      const { end, session } = await signedIn(groups);

      expect([end, session]).toEqual([refused("no-group"), undefined]);
    },
  );

  it("begins no session for a group whose tenant does not exist", async () => {
    const { session } = await signedIn(["gone"]);

    expect(session).toBeUndefined();
  });

  it("is refused with another state, in another browser, and without a code", async () => {
    provider.is({ groups: ["ops team"] });
    const { browser, back } = await atWayBack();
    const other = await atWayBack();
    const changed = new URL(back);
    changed.searchParams.set("state", "another");
    const ends = [
      await visitor().go(back),
      await other.browser.go(back),
      await browser.go(changed.href),
      await (await atWayBack()).browser.go(wayBack(consoleUrl)),
    ];

    expect(ends).toEqual(Array.from({ length: 4 }, () => refused("refused")));
    expect(await sessionOf(browser)).toBeUndefined();
  });

  it("is refused with a code that was used before, even in the same browser", async () => {
    provider.is({ groups: ["ops team"] });
    const { browser, back } = await atWayBack();
    const cookie = browser.cookie();
    const first = await browser.go(back);
    const again = await browser.go(back);
    const withCookie = await fetch(
      back.replace(new URL(consoleUrl).origin, `http://127.0.0.1:${server.port}`),
      { headers: { cookie }, redirect: "manual" },
    );

    expect([first, again]).toEqual([consoleUrl, refused("refused")]);
    expect(withCookie.headers.get("location")).toBe(refused("refused"));
  });

  it.each([
    ["nonce", "nonce"],
    ["challenge of PKCE", "code_challenge"],
  ])("is refused if the provider was asked with another %s", async (_, name) => {
    provider.is({ groups: ["ops team"] });
    const other = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
    const { browser, back } = await atWayBack((there) => there.searchParams.set(name, other));

    expect(await browser.go(back)).toBe(refused("refused"));
    expect(await sessionOf(browser)).toBeUndefined();
  });

  it("is refused with an ID token that has expired", async () => {
    provider.is({ groups: ["ops team"], lifeSeconds: -3_600 });
    const { browser, back } = await atWayBack();

    expect(await browser.go(back)).toBe(refused("refused"));
  });

  it("stops asking the provider for a network that failed eleven times in a minute, and continues for other networks", async () => {
    provider.is({ groups: ["ops team"] });
    const stranger = visitor();
    const forged = `${wayBack(consoleUrl)}?code=guessed&state=guessed`;
    for (let failures = 0; failures <= 10; failures++) {
      await stranger.go(start);
      await stranger.go(forged);
    }

    expect(await stranger.go(start)).toBe(refused("refused"));
    expect((await signedIn(["ops team"])).end).toBe(consoleUrl);
  });

  it("tells the browser that the provider is away, and logs no code and no token", async () => {
    provider.is({ groups: ["ops team"] });
    const { browser, back } = await atWayBack();
    await provider.stop();

    expect(await browser.go(back)).toBe(refused("away"));
    const code = new URL(back).searchParams.get("code") ?? "";
    expect(server.output()).not.toContain(code);
    expect(server.output()).not.toContain(clientSecret);
  });
});
