/** Tests sessions in cookies, and the resource that begins and ends them, over real sockets. */
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { fault, isFault, sessionMs, tenantId } from "@posthaste/domain";
import { recordingLog, seededRandom, type VirtualClock, virtualClock } from "@posthaste/testing";
import { type Audit } from "../audit.ts";
import { addressSet } from "../caller-ip.ts";
import { type Edge } from "../edge/edge.ts";
import { type RawAnswer, rawExchange, request, testEdge } from "../edge/raw-exchange.fixture.ts";
import { hideSessions } from "./cookies.ts";
import { createSessionHandler, type SessionKeeper } from "./session-handler.ts";
import { createSessions, type Session, type Sessions } from "./sessions.ts";

const owner = { kind: "token", of: "the hash" } as const;
const tls = "Origin: https://posthaste.example";

let clock: VirtualClock;
let random: ReturnType<typeof seededRandom>;
let sessions: Sessions;
let edge: Edge;
let ended: string[];
let audited: string[];
/** The headers of the last request that the handler passed on. */
let seen: { readonly named: Session | "none" | "ended"; readonly rawHeaders: readonly string[] };

const sessionsOf = (audience: "tenant" | "operator", secret = "secret"): Sessions =>
  createSessions({ audience, secret, clock, random });

const keeper: SessionKeeper = {
  enter: async ({ headers }) =>
    headers.authorization === "Bearer right"
      ? owner
      : fault("unauthorized", "the token is missing or unknown"),
  holderOf: async ({ id }) =>
    ended.includes(id) ? undefined : { by: { kind: "token", id: "tok" }, tenant: tenantId("me") },
  end: async ({ id }) => void ended.push(id),
};

const audit: Audit = async ({ by, operation, resource, tenant }, make) => {
  audited.push(`${by.kind} ${by.id} of ${tenant}: ${operation} ${resource}`);
  const made = await make();
  audited.push(isFault(made) ? made.fault : "done");
  return made;
};

beforeEach(async () => {
  clock = virtualClock();
  random = seededRandom(1);
  ended = [];
  audited = [];
  sessions = sessionsOf("tenant");
  ({ edge } = await testEdge({
    handle: (answers) => {
      const trustedProxies = addressSet(["127.0.0.1"]);
      const handler = createSessionHandler({
        ...{ sessions, keeper, audit, answers, trustedProxies, clock, random },
        log: recordingLog(),
      });
      return async (req, res) => {
        hideSessions(req);
        if (req.url === "/console/session") return void (await handler(req, res));
        seen = { named: sessions.named(req), rawHeaders: req.rawHeaders };
        res.end("{}");
        return undefined;
      };
    },
  }));
});
afterEach(() => edge.stop());

async function ask(method: string, headers: readonly string[] = []): Promise<RawAnswer> {
  const path = method === "GET" ? "/" : "/console/session";
  const [answer] = await rawExchange(edge.port, request(`${method} ${path} HTTP/1.1`, headers));
  if (!answer) throw new Error("no answer");
  return answer;
}

const headerOf = ({ head }: RawAnswer, name: string): string | undefined =>
  new RegExp(`^${name}: (.*)\r$`, "im").exec(head)?.[1];

/** Signs in, and returns the cookie as a browser sends it and the session's id. */
async function begun(...headers: readonly string[]) {
  const answer = await ask("POST", ["Authorization: Bearer right", ...headers]);
  const setCookie = headerOf(answer, "Set-Cookie") ?? "";
  const { session = "" } = JSON.parse(answer.body) as { session?: string };
  return { setCookie, cookie: setCookie.split(";", 1)[0] ?? "", session };
}

async function named(cookie: string, session: string): Promise<Session | "none" | "ended"> {
  await ask("GET", [`Cookie: ${cookie}`, `Posthaste-Session: ${session}`]);
  return seen.named;
}

describe("a session begins", () => {
  it("in a cookie that scripts cannot read, that no other site sends, and that ends", async () => {
    const { setCookie } = await begun();

    expect(setCookie).toMatch(
      /^posthaste-session=[\w-]{60,300}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    );
  });

  it.each([
    ["the browser says so", tls],
    ["a proxy that is believed says so", "X-Forwarded-Proto: https"],
  ])("over TLS in one that no other host of the domain can set: %s", async (_, header) => {
    const { setCookie } = await begun(header);

    expect(setCookie).toMatch(
      /^__Host-posthaste-session=.*; Path=\/; .*; SameSite=Strict; Secure$/,
    );
  });

  it("with an entry of the audit log before it, and ends with another", async () => {
    const { cookie, session } = await begun();
    await ask("POST", ["Authorization: Bearer wrong"]);
    await ask("DELETE", [`Cookie: ${cookie}`, `Posthaste-Session: ${session}`]);
    await ask("DELETE", [`Cookie: ${cookie}`, `Posthaste-Session: ${session}`]);

    expect(audited).toEqual([
      ...["token tok of me: signIn /console/session", "done"],
      ...["token tok of me: signOut /console/session", "done"],
    ]);
  });

  it("anew each time, also in a browser that has one", async () => {
    const first = await begun();
    const second = await begun(`Cookie: ${first.cookie}`, `Posthaste-Session: ${first.session}`);

    expect(second.session).not.toBe(first.session);
    expect(second.cookie).not.toBe(first.cookie);
  });

  it("only with the right credentials, and the browser shows no dialog for them", async () => {
    const answer = await ask("POST", ["Authorization: Bearer wrong"]);

    expect([answer.status, headerOf(answer, "WWW-Authenticate")]).toEqual([401, "Session"]);
    expect(headerOf(answer, "Set-Cookie")).toBeUndefined();
  });

  it.each(["same-site", "cross-site"])("for no page that is %s", async (site) => {
    const answer = await ask("POST", ["Authorization: Bearer right", `Sec-Fetch-Site: ${site}`]);

    expect([answer.status, headerOf(answer, "Set-Cookie")]).toEqual([403, undefined]);
  });
});

describe("a session is taken", () => {
  it("from its cookie and the page that names it, by every process of the installation", async () => {
    const { cookie, session } = await begun();
    sessions = sessionsOf("tenant");

    expect(await named(cookie, session)).toMatchObject({ id: session, owner });
    expect(await named(`a=1; ${cookie}; b`, session)).toMatchObject({ id: session });
  });

  it("not from a cookie alone, which any page can have sent", async () => {
    const { cookie } = await begun();
    await ask("GET", [`Cookie: ${cookie}`]);

    expect(seen.named).toBe("none");
  });

  it("not from a page that means another", async () => {
    const [one, other] = [await begun(), await begun()];

    expect(await named(one.cookie, other.session)).toBe("ended");
    expect(await named(one.cookie, "")).toBe("ended");
    expect(await named("", one.session)).toBe("ended");
  });

  it("also if another host of the domain has set a cookie of the same name", async () => {
    const { cookie, session } = await begun(tls);
    const planted = await begun();

    expect(await named(`posthaste-session=x; ${planted.cookie}; ${cookie}`, session)).toMatchObject(
      { id: session },
    );
  });

  it("for twelve hours", async () => {
    const { cookie, session } = await begun();
    await clock.advance(sessionMs - 1);
    const before = await named(cookie, session);
    await clock.advance(1);

    expect([before, await named(cookie, session)]).toEqual([
      expect.objectContaining({ id: session }),
      "ended",
    ]);
  });

  it("not when its cookie was changed anywhere, was cut, or is of another installation or audience", async () => {
    const { cookie, session } = await begun();
    const [name = "", value = ""] = cookie.split("=");
    for (let at = 0; at < value.length - 1; at++) {
      const other = value[at] === "A" ? "B" : "A";
      expect(
        await named(`${name}=${value.slice(0, at)}${other}${value.slice(at + 1)}`, session),
      ).toBe("ended");
    }
    for (const cut of ["", "A", value.slice(0, 20), value.slice(0, -4), `${value}AAAA`])
      expect(await named(`${name}=${cut}`, session)).toBe("ended");
    sessions = sessionsOf("tenant", "another secret");
    expect(await named(cookie, session)).toBe("ended");
    sessions = sessionsOf("operator");
    expect(await named(`posthaste-operator-session=${value}`, session)).toBe("ended");
  });
});

describe("a loaded page learns", () => {
  const told = async (...headers: readonly string[]) =>
    (JSON.parse((await ask("POST", headers)).body) as { session?: string }).session;

  it("which session its browser has", async () => {
    const { cookie, session } = await begun();

    expect(await told(`Cookie: ${cookie}`)).toBe(session);
    expect(await told()).toBeUndefined();
  });

  it("over TLS of none that began without, which a host beside us in the domain may have set", async () => {
    const planted = await begun();

    expect(await told(`Cookie: ${planted.cookie}`, tls)).toBeUndefined();
  });

  it("of none that has ended", async () => {
    const { cookie, session } = await begun();
    ended.push(session);

    expect(await told(`Cookie: ${cookie}`)).toBeUndefined();
  });
});

describe("signing out", () => {
  it("ends the session that the page names, and takes its cookie away", async () => {
    const { cookie, session } = await begun();

    const answer = await ask("DELETE", [`Cookie: ${cookie}`, `Posthaste-Session: ${session}`]);

    expect(ended).toEqual([session]);
    expect(headerOf(answer, "Set-Cookie")).toMatch(/^posthaste-session=; Path=\/; Max-Age=0; /);
  });

  it("of a session that has ended leaves the present one", async () => {
    const [one, other] = [await begun(), await begun()];
    const named = `Posthaste-Session: ${one.session}`;

    const answer = await ask("DELETE", [`Cookie: ${other.cookie}`, named]);

    expect([answer.status, headerOf(answer, "Set-Cookie"), ended]).toEqual([200, undefined, []]);
  });
});

it("code that forwards the headers of a request sees no session, and every other cookie", async () => {
  const { cookie, session } = await begun();
  const all = `a=1; ${cookie}; __Host-${cookie}; b="x=y"; posthaste-operator-session=z`;

  await ask("GET", [
    `Cookie: ${all}`,
    `Posthaste-Session: ${session}`,
    "X-Other: posthaste-session",
  ]);
  const handedOn = seen.rawHeaders.slice(4);
  await ask("GET", [`Cookie: ${cookie}`]);

  expect(handedOn).toEqual(["Cookie", 'a=1; b="x=y"', "X-Other", "posthaste-session"]);
  expect(seen.rawHeaders.slice(4)).toEqual([]);
});
