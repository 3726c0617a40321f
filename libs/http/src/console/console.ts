/** Serves pages to browsers, without credentials and without data: the console (ADR 59), and the reference of the API (ADR 177). */
import { type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { type Clock } from "@posthaste/ports";
import { type ConsoleFile, ConsoleFiles } from "./files.ts";

type Response = ServerResponse<IncomingMessage>;

type ConsoleOptions = {
  readonly folder: string;
  /** The page at `/console/`: the tenant's or the operator's. */
  readonly page: "index.html" | "operator.html";
};

/** Returns false for any other request, and for a missing file. */
export type AnswerConsole = (req: IncomingMessage, res: Response) => Promise<boolean>;

const policyWith = (images: string): string =>
  [
    "default-src 'none'",
    ...["script", "style", "connect"].map((kind) => `${kind}-src 'self'`),
    `img-src ${images}`,
    "worker-src 'self'",
    ...["base-uri", "form-action", "frame-ancestors"].map((name) => `${name} 'none'`),
  ].join("; ");

const consolePolicy = policyWith("'self'");
/** Allows `data:` images, since the reference's style sheet has its icons inside. */
const referencePolicy = policyWith("'self' data:");

type Pages = {
  readonly page: string;
  /** The first part of the path, without slashes. */
  readonly name: string;
  readonly policy: string;
};

function createPages(files: ConsoleFiles, { name, page, policy }: Pages): AnswerConsole {
  const prefix = `/${name}/`;
  return async (req, res) => {
    const path = pathOf(req);
    if (path === `/${name}`) {
      // Relative, since a proxy may have put the server under a path.
      res.writeHead(308, ["Location", `${name}/`, "Content-Length", "0"]).end();
      return true;
    }
    if (path === undefined || !path.startsWith(prefix)) return false;
    const rest = path.slice(prefix.length);
    // The pages themselves have one address each.
    if (rest !== "" && !rest.startsWith("assets/")) return false;
    const file = await files.get(rest === "" ? page : rest);
    if (file === undefined) return false;
    answerFile(req, res, file, { isKept: rest !== "", policy });
    return true;
  };
}

const createConsole = ({ folder, page }: ConsoleOptions, clock: Clock): AnswerConsole =>
  createPages(new ConsoleFiles(folder, clock), { name: "console", page, policy: consolePolicy });

/** Serves the pages of the reference, and the document that they show; each of the two APIs has its own. */
function createReference({ folder, page }: ConsoleOptions, clock: Clock): AnswerConsole {
  const files = new ConsoleFiles(join(folder, "docs"), clock);
  const pages = createPages(files, { name: "docs", page: "index.html", policy: referencePolicy });
  return async (req, res) => {
    if (pathOf(req) !== "/openapi.json") return pages(req, res);
    const document = await files.get(documents[page]);
    if (document === undefined) return false;
    answerFile(req, res, document, { isKept: false, policy: referencePolicy });
    return true;
  };
}

const documents = {
  "index.html": "gateway.json",
  "operator.html": "management.json",
} as const satisfies Record<ConsoleOptions["page"], string>;

export type ConsolePagesOptions = Pick<ConsoleOptions, "page"> & {
  /** The folder of the built pages; absent if none are served. */
  readonly folder?: string | undefined;
  readonly session?: AnswerConsole | undefined;
};

/**
 * Returns the function that answers requests for pages, which returns undefined for any other request. `/` leads a
 * browser to the console.
 */
export function createConsolePages(
  { folder, page, session }: ConsolePagesOptions,
  clock: Clock,
): (req: IncomingMessage) => AnswerConsole | undefined {
  if (folder === undefined) return () => undefined;
  const console = createConsole({ folder, page }, clock);
  const reference = createReference({ folder, page }, clock);
  return (req) => {
    const { url = "" } = req;
    if (url.startsWith("/v2/")) return undefined;
    if (session && isOfSession(url)) return session;
    if (url.startsWith("/console")) return console;
    if (url.startsWith("/docs") || url.startsWith("/openapi.json")) return reference;
    return pathOf(req) === "/" && wantsPage(req) ? toConsole : undefined;
  };
}

const isOfSession = (url: string): boolean => /^\/console\/(session$|sign-in(?=$|[/?]))/.test(url);

const toConsole: AnswerConsole = async (_, res) => {
  res.writeHead(302, ["Location", "console/", "Vary", "Accept", "Content-Length", "0"]).end();
  return true;
};

/** Reports whether a browser opens this address: a program accepts anything, or JSON. */
const wantsPage = ({ headers: { accept = "" } }: IncomingMessage): boolean =>
  /(^|,)\s*text\/html\s*(;|,|$)/i.test(accept);

function pathOf({ method, url = "" }: IncomingMessage): string | undefined {
  return method === "GET" || method === "HEAD" ? url.split("?", 1)[0] : undefined;
}

type Answered = {
  /** True if the file's name changes with its content. */
  readonly isKept: boolean;
  readonly policy: string;
};

function answerFile(
  req: IncomingMessage,
  res: Response,
  file: ConsoleFile,
  { isKept, policy }: Answered,
): void {
  const isGzipped = takesGzip(req.headers["accept-encoding"]);
  const bytes = isGzipped ? file.gzipped : file.bytes;
  const tag = `"${file.digest}${isGzipped ? "-gzip" : ""}"`;
  const headers = [
    ...["ETag", tag],
    ...["Vary", "Accept-Encoding"],
    ...["Cache-Control", isKept ? "public, max-age=31536000, immutable" : "no-cache"],
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

/** Reports whether gzip is named, and not refused by a weight of 0 (RFC 9110, 12.5.3). */
function takesGzip(accepted: string | string[] | undefined): boolean {
  const codings = [accepted ?? ""].flat().join(",").toLowerCase().split(",");
  const [gzip] = codings.filter((coding) => /^\s*gzip\s*(;|$)/.test(coding));
  return gzip !== undefined && !/;\s*q=0(\.0*)?\s*$/.test(gzip);
}
