/**
 * Decides by the head of a request whether it is served. Refuses heads that Node's parser accepts
 * (docs/design/wire#ambiguous-requests), and in the dev profile pages of other machines (docs/design/security#development): the
 * token of that profile is public, so a token alone does not distinguish the console from any page that a developer
 * reads in the browser.
 */
import { type IncomingMessage, type ServerResponse } from "node:http";
import { isIPv4 } from "node:net";
import { fault, type Fault, isLoopbackName } from "@posthaste/domain";

export const headersMax = 256;

export function faultOfHead(req: IncomingMessage): Fault | undefined {
  const { rawHeaders } = req;
  if (rawHeaders.length > 2 * headersMax) {
    return fault("headers_too_large", `more than ${headersMax} headers`);
  }
  const hosts = countOf(rawHeaders, "host");
  if (hosts > 1) return fault("malformed", "more than one Host header");
  if (hosts === 0 && req.httpVersion !== "1.0") return fault("malformed", "no Host header");
  // Any other coding, or a list of codings, could be read in one way here and in another by a proxy in front.
  const coding = req.headers["transfer-encoding"];
  if (coding !== undefined && coding.toLowerCase() !== "chunked")
    return fault("malformed", "Transfer-Encoding: must be chunked and nothing else");
  const url = originForm(req);
  // A fragment is never sent.
  if (!url.startsWith("/") && !(url === "*" && req.method === "OPTIONS")) {
    return fault("malformed", "the request target must start with a slash");
  }
  if (url.includes("#")) return fault("malformed", "the request target must not hold a fragment");
  return undefined;
}

/**
 * Returns the text after the host in an absolute form (RFC 9112 §3.2.2), which clients of a proxy send; the host
 * replaces the Host header.
 */
function originForm(req: IncomingMessage): string {
  const target = req.url ?? "";
  const authority = target.startsWith("/")
    ? undefined
    : /^https?:\/\/[^/?#@]+(?=[/?]|$)/i.exec(target);
  if (!authority) return target;
  const rest = target.slice(authority[0].length);
  req.url = rest.startsWith("/") ? rest : `/${rest}`;
  req.headers.host = authority[0].replace(/^.*\//, "");
  return req.url;
}

/** Returns the value of a header that may occur once, or undefined when it is absent or there are several. */
export function singleHeader(req: IncomingMessage, name: "authorization"): string | undefined {
  const value = req.headers[name];
  return value !== undefined && countOf(req.rawHeaders, name) === 1 ? value : undefined;
}

/** `name` is in lower case. Compares lengths first, so that of twenty headers hardly one is compared. */
function countOf(rawHeaders: readonly string[], name: string): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const header = rawHeaders[i];
    if (header?.length === name.length && header.toLowerCase() === name) count++;
  }
  return count;
}

/** Reports whether a browser says that a page of another origin made the request. */
export function isOfOtherOrigin(req: IncomingMessage): boolean {
  const site = req.headers["sec-fetch-site"];
  return site !== undefined && site !== "same-origin" && site !== "none";
}

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
