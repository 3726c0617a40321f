/**
 * The console's files, below `/console/`. They are read as they are asked for: the folder may be built while the server runs.
 * A name is one of those that a build gives, so no path leads out of the folder.
 */
import { readFile } from "node:fs/promises";
import { type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";

type Response = ServerResponse<IncomingMessage>;

const page = "index.html";
const asset = /^assets\/[A-Za-z0-9_-]{1,100}\.(js|css|svg)$/;
const types: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};
const policy = [
  "default-src 'none'",
  ...["script", "style", "connect", "img"].map((kind) => `${kind}-src 'self'`),
  ...["base-uri", "form-action", "frame-ancestors"].map((name) => `${name} 'none'`),
].join("; ");

/** Undefined: the request is for something else. "" is the page, and "console" wants its slash. */
function fileOf({ method, url = "" }: IncomingMessage): string | undefined {
  if (method !== "GET") return undefined;
  const [path = ""] = url.split("?", 1);
  if (path === "/console") return "console";
  if (path === "/console/") return page;
  const name = path.startsWith("/console/") ? path.slice("/console/".length) : "";
  return asset.test(name) ? name : undefined;
}

/** False: the request is for something else, or there is no such file. */
export async function answerConsole(
  folder: string,
  req: IncomingMessage,
  res: Response,
): Promise<boolean> {
  const file = fileOf(req);
  if (file === undefined) return false;
  if (file === "console") {
    // Relative, since a proxy may have put the server below a path.
    res.writeHead(308, ["Location", "console/", "Content-Length", "0"]).end();
    return true;
  }
  const bytes = await readFile(join(folder, file)).catch(() => undefined);
  if (bytes === undefined) return false;
  res.writeHead(200, [
    "Content-Type",
    types[file.slice(file.lastIndexOf(".") + 1)] ?? "",
    "Content-Length",
    String(bytes.length),
    "Content-Security-Policy",
    policy,
    "X-Content-Type-Options",
    "nosniff",
    "Referrer-Policy",
    "no-referrer",
    // The name of an asset changes with what is in it.
    "Cache-Control",
    file === page ? "no-cache" : "public, max-age=31536000, immutable",
  ]);
  res.end(bytes);
  return true;
}
