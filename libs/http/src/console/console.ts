/** The console below `/console/`: files for a browser, which need no credentials and hold no data (ADR 59). */
import { type IncomingMessage, type ServerResponse } from "node:http";
import { type Clock } from "@posthaste/ports";
import { type ConsoleFile, ConsoleFiles } from "./files.ts";

type Response = ServerResponse<IncomingMessage>;

export type ConsoleOptions = {
  /** Of what was built. */
  readonly folder: string;
  /** What `/console/` is: the pages of a tenant, or those of the operator. */
  readonly page: "index.html" | "operator.html";
};

/** False: the request is for something else, or there is no such file. */
export type AnswerConsole = (req: IncomingMessage, res: Response) => Promise<boolean>;

const prefix = "/console/";
const policy = [
  "default-src 'none'",
  ...["script", "style", "connect", "img", "worker"].map((kind) => `${kind}-src 'self'`),
  ...["base-uri", "form-action", "frame-ancestors"].map((name) => `${name} 'none'`),
].join("; ");

export function createConsole({ folder, page }: ConsoleOptions, clock: Clock): AnswerConsole {
  const files = new ConsoleFiles(folder, clock);
  return async (req, res) => {
    const path = pathOf(req);
    if (path === "/console") {
      // Relative, since a proxy may have put the server below a path.
      res.writeHead(308, ["Location", "console/", "Content-Length", "0"]).end();
      return true;
    }
    if (path === undefined || !path.startsWith(prefix)) return false;
    const name = path.slice(prefix.length);
    // The pages themselves have one address each.
    if (name !== "" && !name.startsWith("assets/")) return false;
    const file = await files.get(name === "" ? page : name);
    if (file === undefined) return false;
    answerFile(req, res, file, name === "");
    return true;
  };
}

function pathOf({ method, url = "" }: IncomingMessage): string | undefined {
  return method === "GET" || method === "HEAD" ? url.split("?", 1)[0] : undefined;
}

function answerFile(req: IncomingMessage, res: Response, file: ConsoleFile, isPage: boolean): void {
  const isGzipped = takesGzip(req.headers["accept-encoding"]);
  const bytes = isGzipped ? file.gzipped : file.bytes;
  const tag = `"${file.digest}${isGzipped ? "-gzip" : ""}"`;
  const headers = [
    ...["ETag", tag],
    ...["Vary", "Accept-Encoding"],
    // The name of an asset changes with what is in it.
    ...["Cache-Control", isPage ? "no-cache" : "public, max-age=31536000, immutable"],
    ...["Content-Security-Policy", policy],
    ...["X-Content-Type-Options", "nosniff"],
    ...["Referrer-Policy", "no-referrer"],
  ];
  if (isKnown(req.headers["if-none-match"], tag)) {
    res.writeHead(304, headers).end();
    return;
  }
  const ofBody = ["Content-Type", file.type, "Content-Length", String(bytes.length)];
  const encoding = isGzipped ? ["Content-Encoding", "gzip"] : [];
  res.writeHead(200, [...headers, ...ofBody, ...encoding]);
  res.end(req.method === "HEAD" ? undefined : bytes);
}

const isKnown = (given: string | undefined, tag: string): boolean =>
  given !== undefined &&
  given.split(",").some((each) => ["*", tag, `W/${tag}`].includes(each.trim()));

/** Named, and not refused by a weight of nothing (RFC 9110, 12.5.3). */
function takesGzip(accepted: string | string[] | undefined): boolean {
  const codings = [accepted ?? ""].flat().join(",").toLowerCase().split(",");
  const [gzip] = codings.filter((coding) => /^\s*gzip\s*(;|$)/.test(coding));
  return gzip !== undefined && !/;\s*q=0(\.0*)?\s*$/.test(gzip);
}
