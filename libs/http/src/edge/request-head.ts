/** Refuses heads that Node's parser accepts (docs/design/wire#front-door). */
import { type IncomingMessage } from "node:http";
import { fault, type Fault } from "@posthaste/domain";

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
