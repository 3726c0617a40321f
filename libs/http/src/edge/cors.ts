/**
 * Decides which pages the dev profile serves (docs/design/security#development). The token of the profile is public,
 * so a token alone does not tell a console in a browser from any page that a developer happens to read.
 */
import { type IncomingMessage, type ServerResponse } from "node:http";
import { isIPv4 } from "node:net";
import { fault, type Fault, isLoopbackName } from "@posthaste/domain";

/** `none`: pages of other origins may not read answers. `local`: only pages and names of this machine are served. `any`: all are served. */
export type Origins = "none" | "local" | "any";

/**
 * Returns a check that refuses pages of other machines, and names of other machines. A page may give its own name the
 * address of this machine (DNS rebinding): its requests are then of its own origin, and only their Host shows it.
 */
export function createOriginCheck(): (req: IncomingMessage) => Fault | undefined {
  /** The last host that passed: most requests name the same one. */
  let lastServed: string | undefined;
  return ({ headers: { host, origin } }) => {
    if (origin !== undefined && !isLocalOrigin(origin)) return foreign("Origin");
    if (host === undefined || host === lastServed) return undefined;
    if (!isLocalHost(host) && !isDotless(host)) return foreign("Host");
    lastServed = host;
    return undefined;
  };
}

/** Reports whether the host has no dot, as other containers call this one: no page on the internet has such a name. */
const isDotless = (host: string): boolean =>
  /^[a-z0-9_-]*[a-z_-][a-z0-9_-]*(:\d{0,5})?$/i.test(host);

const foreign = (field: "Origin" | "Host"): Fault =>
  fault(
    "forbidden",
    `${field}: the dev profile serves localhost only; POSTHASTE_DEV_ORIGINS=any opens it`,
  );

function isLocalOrigin(origin: string): boolean {
  const host = /^https?:\/\/(.*)$/i.exec(origin)?.[1];
  return host !== undefined && isLocalHost(host);
}

/** Reports whether the host, with or without a port, is this machine. */
function isLocalHost(host: string): boolean {
  const name = host.replace(/:\d{0,5}$/, "").toLowerCase();
  return isLoopbackName(name) || name === "[::1]" || (isIPv4(name) && name.startsWith("127."));
}

/** Returns true when the request was a preflight, which is then answered. Sends no credentials header, since the token is a header. */
export function allowOrigin(req: IncomingMessage, res: ServerResponse): boolean {
  if (req.headers.origin === undefined) return false;
  res.setHeader("Access-Control-Allow-Origin", "*");
  res.setHeader("Access-Control-Expose-Headers", "*");
  if (req.method !== "OPTIONS" || req.headers["access-control-request-method"] === undefined) {
    return false;
  }
  res.writeHead(204, [
    "Access-Control-Allow-Methods",
    "GET, POST, PUT, PATCH, DELETE",
    "Access-Control-Allow-Headers",
    // A star does not include Authorization.
    req.headers["access-control-request-headers"] ?? "*",
    "Access-Control-Max-Age",
    "600",
  ]);
  res.end();
  return true;
}
