/**
 * Serves `/console/sign-in`, which leads to the provider, which leads back to `/console/sign-in/back`. The browser
 * goes to both, and both redirect; no part of a request can change where to.
 *
 * (1) An attempt is valid once, in the browser that began it: its seed is in a cookie, which the way back removes.
 * (2) A new session begins, whatever session the browser had.
 * (3) The provider is called on behalf of strangers, so a network whose attempts fail too often is led back without a
 *     call.
 */
import { type IncomingMessage, type ServerResponse } from "node:http";
import { type Fault, isFault } from "@posthaste/domain";
import { type Clock, type Log, type Random } from "@posthaste/ports";
import { createFailureLimit } from "../authenticate/failure-limit.ts";
import { type AddressSet, callerIp } from "../caller-ip.ts";
import { cookiesIn } from "./cookies.ts";
import { attemptOf, groupOf, type ProviderSignIn, type SignInRefusal } from "./provider.ts";
import { type SessionOwner } from "./sessions.ts";

type Response = ServerResponse<IncomingMessage>;

type ProviderDoorParts = {
  readonly signIn: ProviderSignIn;
  readonly begin: (
    owner: SessionOwner,
    address: string,
    isSecure: boolean,
  ) => Promise<{ readonly setCookie: string } | Fault>;
  readonly trustedProxies: AddressSet;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
};

/** The reasons of a refusal, for each of which the console has a text. */
type Refused = SignInRefusal["refused"] | "no-group";

const seedLength = 43;
const attemptSeconds = 600;
const prefix = "/console/sign-in";

/** Returns a function that answers the two paths, and returns undefined for any other request. */
export function createProviderHandler(parts: ProviderDoorParts) {
  const { begin, clock, log, random, signIn, trustedProxies } = parts;
  const { consoleUrl, groups, provider } = signIn;
  const failures = createFailureLimit(clock);
  const redirectUri = new URL("sign-in/back", consoleUrl).href;
  const isSecure = consoleUrl.startsWith("https://");
  // The operator's console may be at another port of the same host.
  const name = `${isSecure ? "__Host-" : ""}posthaste-sign-in-${new URL(consoleUrl).port}`;
  // Lax, since the way back begins at the provider.
  const cookie = (value: string, seconds: number): string =>
    `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}`;

  const leadBack = (res: Response, refusal: Refused): void =>
    leadTo(res, `${consoleUrl}?sign-in=${refusal}`, [cookie("", 0)]);

  function refused(res: Response, refusal: Refused, why: string): void {
    log.warn("sign-in.refused", { outcome: refusal, reason: why });
    leadBack(res, refusal);
  }

  function failed({ res, address }: Visit, refusal: Refused, why: string): void {
    failures.failed(address);
    refused(res, refusal, why);
  }

  async function go(visit: Visit): Promise<void> {
    const seed = random.text(seedLength);
    try {
      const there = await provider.addressOf(attemptOf(seed, redirectUri));
      leadTo(visit.res, there, [cookie(seed, attemptSeconds)]);
    } catch {
      failed(visit, "away", "the provider does not answer");
    }
  }

  async function back(visit: Visit): Promise<void> {
    const { req, res } = visit;
    const seeds = cookiesIn(req.headers.cookie).filter((each) => each.name === name);
    const [seed] = seeds;
    // Not logged: any stranger can make this request.
    if (!seed || seeds.length > 1) return leadBack(res, "refused");
    const came = new URL(redirectUri);
    came.search = /\?.*/.exec(req.url ?? "")?.[0] ?? "";
    const found = await provider.groupsOf(attemptOf(seed.value, redirectUri), came);
    if (isRefusal(found)) return failed(visit, found.refused, found.why);
    const group = [...groups.keys()].find((one) => found.includes(one));
    if (group === undefined) return refused(res, "no-group", "in no group that may sign in");
    const owner = { kind: "group", of: groupOf(signIn, group) } as const;
    const begun = await begin(owner, visit.address, isSecure);
    if (isFault(begun)) return refused(res, "refused", "the group may no longer sign in");
    leadTo(res, consoleUrl, [begun.setCookie, cookie("", 0)]);
  }

  return (req: IncomingMessage, res: Response): Promise<void> | undefined => {
    if (req.method !== "GET" || !req.url?.startsWith(prefix)) return undefined;
    const [path] = req.url.split("?");
    const work = path === prefix ? go : path === `${prefix}/back` ? back : undefined;
    if (!work) return undefined;
    const address = callerIp(req, trustedProxies);
    if (failures.blockedSeconds(address) === undefined) return work({ req, res, address });
    leadBack(res, "refused");
    return Promise.resolve();
  };
}

type Visit = {
  readonly req: IncomingMessage;
  readonly res: Response;
  readonly address: string;
};

const isRefusal = (found: readonly string[] | SignInRefusal): found is SignInRefusal =>
  "refused" in found;

function leadTo(res: Response, location: string, cookies: readonly string[]): void {
  const policy = ["Referrer-Policy", "no-referrer", "Cache-Control", "no-store"];
  const set = cookies.flatMap((each) => ["Set-Cookie", each]);
  res.writeHead(302, ["Location", location, "Content-Length", "0", ...policy, ...set]).end();
}
