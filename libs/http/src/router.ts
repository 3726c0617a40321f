/**
 * Routes everything with Express except the raw targets, which are handled before. One router, bound from the rows of
 * the endpoints, and no middleware: the guards of a service read bodies, and queries stay text.
 */
import express, {
  type ErrorRequestHandler,
  type Express,
  type NextFunction,
  type Request,
  type RequestHandler,
  type Response,
} from "express";
import { type Answer, type Endpoint, type Pieces } from "@posthaste/contract";
import { fault, type Fault, isFault } from "@posthaste/domain";
import { answer, type FlatHeaders } from "./answers/answer.ts";
import { type Answers, type Refusal } from "./answers/answers.ts";
import { type StreamedReply } from "./answers/streamed.ts";
import { workEnded } from "./bodies/body.ts";

export type Reply = {
  readonly status: number;
  readonly body: string;
  readonly headers?: FlatHeaders;
};

const reply = (value: unknown, status: number): Reply => ({
  status,
  body: JSON.stringify(value),
});

const emptyReply = (status: number): Reply => ({ status, body: "" });

/** `owner` is charged for a long answer in memory while it is written. */
export function replyOf(answered: Answer, owner: StreamedReply["owner"]): Reply | StreamedReply {
  const { status } = answered;
  if ("read" in answered) {
    const { read } = answered;
    return { status, owner, read: async (permit) => inPieces(await read(permit)) };
  }
  return answered.json === undefined ? emptyReply(status) : reply(answered.json, status);
}

const inPieces = (read: Pieces | { readonly json: unknown } | Fault): Pieces | Fault =>
  !isFault(read) && "json" in read ? { text: JSON.stringify(read.json) } : read;

/** Handles the requests of an endpoint for one method. A throw is answered with 500, a failing store with 503 or 507. */
export type Handler = (req: Request, res: Response) => Promise<Reply | StreamedReply | Refusal>;

export type Route = Pick<Endpoint, "method" | "path"> & { readonly handle: Handler };

/** Case and a trailing slash of a path do not matter, except for `emptyId`. */
export function createExpressApp(routes: readonly Route[], answers: Answers): Express {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("query parser", false);
  for (const [path, methods] of byPath(routes))
    app.all(expressPath(path), dispatch(methods, answers));
  app.use((_req: Request, res: Response) => answers.fault(res, notFound));
  app.use(failure(answers));
  return app;
}

type Methods = ReadonlyMap<string, Handler>;

/** Groups routes by path. Express takes the first that matches: `/v2/dlq/retry` before `/v2/dlq/{dlqId}`. */
function byPath(routes: readonly Route[]): readonly (readonly [string, Methods])[] {
  const paths = new Map<string, Map<string, Handler>>();
  for (const { method, path, handle } of routes) {
    const methods = paths.get(path) ?? new Map<string, Handler>();
    const hasItems = routes.some((other) => other.method === method && isItemOf(other.path, path));
    methods.set(method.toUpperCase(), hasItems && method !== "get" ? ofCollection(handle) : handle);
    paths.set(path, methods);
  }
  // "{" sorts after every letter.
  return [...paths].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

const expressPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ":$1");

const isItemOf = (path: string, collection: string): boolean =>
  path.startsWith(`${collection}/{`) && path.indexOf("/", collection.length + 1) < 0;

/**
 * Refuses a path that ends with a slash. With an empty id the path of an item is that of its collection, and the
 * request must not change the whole collection.
 */
const ofCollection =
  (handle: Handler): Handler =>
  async (req, res) =>
    req.path.endsWith("/") ? emptyId : handle(req, res);

const emptyId = fault("malformed", "the id at the end of the path is empty");

const notFound = fault("not_found", "no such endpoint");

/** Returns the query of a request, with each name as often as it occurs. */
export function queryOf(req: Pick<Request, "url">): URLSearchParams {
  const mark = req.url.indexOf("?");
  return new URLSearchParams(mark < 0 ? "" : req.url.slice(mark + 1));
}

function dispatch(methods: Methods, answers: Answers): RequestHandler {
  const allow: FlatHeaders = ["Allow", [...methods.keys()].join(", ")];
  return (req, res) => {
    const handle = methods.get(req.method);
    if (!handle) {
      answers.fault(res, fault("method_not_allowed", `${req.method} is not allowed here`), allow);
      return;
    }
    void handle(req, res)
      .then((result) => send(res, result, answers))
      .catch((error: unknown) => answers.failed(res, error))
      .then(() => workEnded(res));
  };
}

async function send(
  res: Response,
  result: Reply | StreamedReply | Refusal,
  answers: Answers,
): Promise<void> {
  if (isFault(result)) answers.fault(res, result);
  else if ("read" in result) await answers.streamed(res, result);
  else answer(res, result.status, result.body, result.headers);
}

/** Handles Express's errors. Express's own refusal, of a broken escape in a parameter, has a status; every other error is ours. */
function failure(answers: Answers): ErrorRequestHandler {
  // Express tells error handlers by their four parameters.
  return (error: unknown, _req: Request, res: Response, _next: NextFunction) => {
    if (isBadRequest(error)) answers.fault(res, malformedPath);
    else answers.failed(res, error);
  };
}

const malformedPath: Fault = fault("malformed", "the path holds a broken escape");

const isBadRequest = (error: unknown): boolean =>
  Error.isError(error) && "status" in error && error.status === 400;
