/** Receivers as handlers of `node:http`, express, Fastify, the fetch API and AWS Lambda. */
import { Buffer } from "node:buffer";
import { type IncomingMessage, type ServerResponse } from "node:http";
import { type Answer, type Receiver, tooLarge } from "./receiver.ts";

export const nodeHandler =
  (receiver: Receiver) =>
  (request: IncomingMessage, response: ServerResponse): void =>
    void answerNode(receiver, request, response);

/**
 * Returns a handler for express. Mount it before any body parser, or behind `express.raw` for all types: a body that
 * another parser has read cannot be verified.
 */
export const expressHandler =
  (receiver: Receiver) =>
  (
    request: IncomingMessage & { readonly body?: unknown },
    response: ServerResponse,
    next: (problem: unknown) => void,
  ): void => {
    const { body } = request;
    if (body instanceof Uint8Array) return void answerNode(receiver, request, response, body);
    if (body === undefined || !request.readableEnded)
      return void answerNode(receiver, request, response);
    next(new Error("the body has been parsed: a receiver must stand before express.json()"));
  };

/**
 * Returns a handler for Fastify. No parser may read the body: replace Fastify's with `app.addContentTypeParser("*", (_,
 * __, done) => done(null))`.
 */
export const fastifyHandler =
  (receiver: Receiver) =>
  (
    { raw: request }: { readonly raw: IncomingMessage },
    reply: { readonly raw: ServerResponse; readonly hijack: () => unknown },
  ): void => {
    reply.hijack();
    void answerNode(receiver, request, reply.raw);
  };

/** The event of a function URL or an HTTP API, in payload format 2.0. */
export type LambdaEvent = {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body?: string | undefined;
  readonly isBase64Encoded: boolean;
};

export type LambdaAnswer = {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly isBase64Encoded: boolean;
};

/** Returns a handler for AWS Lambda behind a function URL or an HTTP API. */
export const lambdaHandler =
  (receiver: Receiver) =>
  async ({ body = "", headers, isBase64Encoded }: LambdaEvent): Promise<LambdaAnswer> => {
    const named = Object.entries(headers).map(([name, value = ""]) => [name.toLowerCase(), value]);
    const answer = await receiver.receive({
      headers: Object.fromEntries(named) as Readonly<Record<string, string>>,
      body: Buffer.from(body, isBase64Encoded ? "base64" : "utf8"),
    });
    return {
      ...{ statusCode: answer.status, headers: answer.headers, isBase64Encoded: true },
      body: Buffer.from(answer.body).toString("base64"),
    };
  };

/** Returns a handler of the fetch API's Request. */
export const fetchHandler =
  (receiver: Receiver) =>
  async (request: Request): Promise<Response> => {
    const chunks: AsyncIterable<Uint8Array> | null = request.body;
    const body = await bytesOf(chunks ?? [], receiver.bodyBytesMax);
    const headers = Object.fromEntries(request.headers);
    const {
      status,
      headers: given,
      body: said,
    } = body ? await receiver.receive({ headers, body }) : tooLarge;
    const isBare = said.length === 0 || bodiless.has(status);
    return new Response(isBare ? null : said, { status, headers: given });
  };

/** The statuses whose responses have no body, not even an empty one. node:http drops a given body. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

async function answerNode(
  receiver: Receiver,
  request: IncomingMessage,
  response: ServerResponse,
  read?: Uint8Array,
): Promise<void> {
  // Keeps the connection open for the answer when the body is longer than allowed.
  const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
  const body = read ?? (await bytesOf(chunks, receiver.bodyBytesMax).catch(() => "gone" as const));
  if (body === "gone") return;
  if (!body) return send(response, tooLarge, { connection: "close" });
  const headers = Object.fromEntries(
    Object.entries(request.headersDistinct).map(([name, values = []]) => [name, values.join(", ")]),
  );
  send(response, await receiver.receive({ headers, body }));
}

function send(response: ServerResponse, answer: Answer, more: Answer["headers"] = {}): void {
  response.writeHead(answer.status, { ...answer.headers, ...more }).end(answer.body);
}

/** Returns undefined for a body above `bytesMax`. */
async function bytesOf(
  chunks: AsyncIterable<Uint8Array> | readonly Uint8Array[],
  bytesMax: number,
): Promise<Uint8Array | undefined> {
  const read: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > bytesMax) return undefined;
    read.push(chunk);
  }
  return Buffer.concat(read);
}
