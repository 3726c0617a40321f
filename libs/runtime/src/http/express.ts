/**
 * Express for everything but publish, which is taken by hand before it. One router, no middleware: bodies are read by
 * whoever wants them, and queries stay text.
 */
import express, {
  type ErrorRequestHandler,
  type Express,
  type NextFunction,
  type Request,
  type RequestHandler,
  type Response,
} from "express";
import { fault, type Fault, isFault, type Method } from "@posthaste/domain";
import { answer, type FlatHeaders } from "./answer.ts";
import { type Answers, type Refusal } from "./answers.ts";

export type Reply = {
  readonly status: number;
  readonly body: string;
  readonly headers?: FlatHeaders;
};

export const reply = (value: unknown, status = 200): Reply => ({
  status,
  body: JSON.stringify(value),
});

/** For the many answers that clients do not read. */
export const emptyReply = (status = 200): Reply => ({ status, body: "" });

/** What an endpoint does for one method. What it throws is answered with 500, a failing store with 503 or 507. */
export type Work = (req: Request, res: Response) => Promise<Reply | Refusal>;

export type RoutedPath = {
  /** As Express reads it: `/v2/messages/:messageId`. Case and a trailing slash do not matter. */
  readonly path: string;
  readonly methods: { readonly [M in Method]?: Work };
};

export function createExpressApp(paths: readonly RoutedPath[], answers: Answers): Express {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("query parser", false);
  for (const { path, methods } of paths) app.all(path, dispatch(methods, answers));
  app.use((_req: Request, res: Response) => answers.fault(res, notFound));
  app.use(failure(answers));
  return app;
}

const notFound = fault("not_found", "no such endpoint");

/** The query of a request, each name as often as it stands there. */
export function queryOf(req: Pick<Request, "url">): URLSearchParams {
  const mark = req.url.indexOf("?");
  return new URLSearchParams(mark < 0 ? "" : req.url.slice(mark + 1));
}

function dispatch(methods: RoutedPath["methods"], answers: Answers): RequestHandler {
  const works = new Map<string, Work>(Object.entries(methods));
  const allow: FlatHeaders = ["Allow", [...works.keys()].join(", ")];
  return (req, res) => {
    const work = works.get(req.method);
    if (!work) {
      answers.fault(res, fault("method_not_allowed", `${req.method} is not allowed here`), allow);
      return;
    }
    work(req, res).then(
      (result) => send(res, result, answers),
      (error: unknown) => answers.failed(res, error),
    );
  };
}

function send(res: Response, result: Reply | Refusal, answers: Answers): void {
  if (isFault(result)) answers.fault(res, result);
  else answer(res, result.status, result.body, result.headers);
}

/** What Express itself refuses, a broken escape in a parameter, has a status; everything else is ours. */
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
