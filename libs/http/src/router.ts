/**
 * Routes everything except the raw targets, which are handled before: from the rows of the endpoints to their works. The door of a
 * service reads bodies, and queries stay text.
 */
import { type IncomingMessage, type ServerResponse } from "node:http";
import { type Answer, type Endpoint, type Pieces } from "@posthaste/contract";
import { fault, type Fault, isFault } from "@posthaste/domain";
import { answer, type FlatHeaders } from "./answers/answer.ts";
import { type Answers, type Refusal } from "./answers/answers.ts";
import { type StreamedReply } from "./answers/streamed.ts";
import { workEnded } from "./bodies/body.ts";
import { createRoutes, namesIn } from "./routes.ts";

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

export type Response = ServerResponse<IncomingMessage>;

/** The path of a request, without its query, and the parameters in it. */
export type Place = {
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
};

/** The work of an endpoint for one method. A throw is answered with 500, a failing store with 503 or 507. */
export type Work = (
  req: IncomingMessage,
  res: Response,
  place: Place,
) => Promise<Reply | StreamedReply | Refusal>;

export type Route = Pick<Endpoint, "method" | "path"> & { readonly work: Work };

/** Makes a handler that answers every request. Case and a trailing slash of a path do not matter, except for `emptyId`. */
export function createRouter(
  routes: readonly Route[],
  answers: Answers,
): (req: IncomingMessage, res: Response) => void {
  const find = createRoutes(byPath(routes));
  return (req, res) => {
    const path = pathOf(req.url ?? "");
    const found = find(path);
    if (!found) return answers.fault(res, notFound);
    const { value, values } = found;
    const params = paramsOf(value.names, values);
    if (isFault(params)) return answers.fault(res, params);
    const work = value.works.get(req.method ?? "");
    if (work) answerWith(work(req, res, { path, params }), res, answers);
    else
      answers.fault(
        res,
        fault("method_not_allowed", `${req.method} is not allowed here`),
        value.allow,
      );
    return undefined;
  };
}

type Methods = {
  readonly names: readonly string[];
  readonly works: ReadonlyMap<string, Work>;
  readonly allow: FlatHeaders;
};

function byPath(routes: readonly Route[]): readonly (readonly [string, Methods])[] {
  return [...Map.groupBy(routes, ({ path }) => path)].map(([path, its]) => {
    const works = new Map(
      its.map(({ method, work }) => {
        const hasItems = routes.some(
          (other) => other.method === method && isItemOf(other.path, path),
        );
        return [method.toUpperCase(), hasItems && method !== "get" ? ofCollection(work) : work];
      }),
    );
    return [path, { names: namesIn(path), works, allow: ["Allow", [...works.keys()].join(", ")] }];
  });
}

const isItemOf = (path: string, collection: string): boolean =>
  path.startsWith(`${collection}/{`) && path.indexOf("/", collection.length + 1) < 0;

/**
 * Refuses a path that ends with a slash. With an empty id the path of an item is that of its collection, and the
 * request must not change the whole collection.
 */
const ofCollection =
  (work: Work): Work =>
  async (req, res, place) =>
    place.path.endsWith("/") ? emptyId : work(req, res, place);

const emptyId = fault("malformed", "the id at the end of the path is empty");

const notFound = fault("not_found", "no such endpoint");

const pathOf = (url: string): string => {
  const mark = url.indexOf("?");
  return mark < 0 ? url : url.slice(0, mark);
};

/** Returns the query of a request, with each name as often as it occurs. */
export function queryOf(req: Pick<IncomingMessage, "url">): URLSearchParams {
  const { url = "" } = req;
  const mark = url.indexOf("?");
  return new URLSearchParams(mark < 0 ? "" : url.slice(mark + 1));
}

function paramsOf(names: readonly string[], values: readonly string[]): Place["params"] | Fault {
  const params: Record<string, string> = {};
  for (const [i, name] of names.entries()) {
    const value = decoded(values[i] ?? "");
    if (value === undefined) return malformedPath;
    params[name] = value;
  }
  return params;
}

/** Returns undefined for a broken escape. */
function decoded(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}

const malformedPath: Fault = fault("malformed", "the path holds a broken escape");

function answerWith(work: ReturnType<Work>, res: Response, answers: Answers): void {
  void work
    .then((result) => send(res, result, answers))
    .catch((error: unknown) => answers.failed(res, error))
    .then(() => workEnded(res));
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
