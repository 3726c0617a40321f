/**
 * Any origin may call: in the dev profile only, for consoles in a browser (docs/design/security#development). Without credentials,
 * since the token is a header.
 */
import { type IncomingMessage, type ServerResponse } from "node:http";

/** True: this was a preflight, and it is answered. */
export function allowAnyOrigin(req: IncomingMessage, res: ServerResponse): boolean {
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
    // A star does not cover Authorization.
    req.headers["access-control-request-headers"] ?? "*",
    "Access-Control-Max-Age",
    "600",
  ]);
  res.end();
  return true;
}
