/** The accepting half of both peers: reads a publish or a batch, makes the headers of each delivery, and answers with the ids. */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { type Delivery } from "./deliver.ts";

export type Publish = {
  readonly id: string;
  readonly delivery: Delivery;
  /** The message has a deduplication id and a flow key. */
  readonly isGuarded?: boolean;
  /** The message's FIFO queue, which runs one at a time. */
  readonly queue?: string | undefined;
};

type Headers = Readonly<Record<string, string>>;
type Item = { readonly destination: string; readonly headers: Headers; readonly body: string };

const publishPath = "/v2/publish/";
const batchPath = "/v2/batch";
const forwardPrefix = "service-forward-";

/** `take` calls `answer` when the message is as safe as the peer makes it. */
export function serve(port: number, take: (publish: Publish, answer: () => void) => void): void {
  let count = 0;
  const nextId = () => `msg_${(++count).toString(36).padStart(24, "0")}`;

  const publish = (url: string, request: IncomingMessage, response: ServerResponse) => {
    const id = nextId();
    const headers = deliveryHeaders(request.headers, id);
    const isGuarded = request.headers["service-flow-control-key"] !== undefined;
    readBody(request, (body) => {
      const taken = { id, delivery: { url, headers, body }, isGuarded };
      take(taken, () => answerJson(response, `{"messageId":"${id}"}`));
    });
  };

  const batch = (request: IncomingMessage, response: ServerResponse) =>
    readBody(request, (content) => {
      const items = (JSON.parse(content.toString()) as readonly Item[]).map(
        ({ destination: url, headers, body }): Publish => {
          const id = nextId();
          const given = lowerCased(headers);
          const queue = given["service-queue-name"];
          return { id, delivery: { url, headers: deliveryHeaders(given, id), body }, queue };
        },
      );
      let left = items.length;
      const answer = () => {
        if (--left > 0) return;
        answerJson(response, JSON.stringify(items.map(({ id }) => ({ messageId: id }))));
      };
      for (const item of items) take(item, answer);
    });

  const server = createServer((request, response) => {
    const { url = "" } = request;
    if (url.startsWith(publishPath)) publish(url.slice(publishPath.length), request, response);
    else if (url === batchPath) batch(request, response);
    else response.end("ok");
  });
  server.keepAliveTimeout = 60_000;
  server.listen(port, "127.0.0.1");
}

/** Returns as many headers as Posthaste sends, so that parsing them costs the destination the same. */
function deliveryHeaders(given: IncomingHttpHeaders, id: string): Record<string, string> {
  const headers: Record<string, string> = {
    "user-agent": "relay",
    "content-type": given["content-type"] ?? "application/octet-stream",
    "service-message-id": id,
    "service-retried": "0",
    "service-caller-ip": "127.0.0.1",
    "service-signature": signature,
  };
  for (const name in given) {
    const value = given[name];
    if (name.startsWith(forwardPrefix) && typeof value === "string") {
      headers[name.slice(forwardPrefix.length)] = value;
    }
  }
  return headers;
}

function lowerCased(headers: Headers): Headers {
  const lower: Record<string, string> = {};
  for (const name in headers) lower[name.toLowerCase()] = headers[name] ?? "";
  return lower;
}

/** As long as a real one. The peers do not sign. */
const signature = "x".repeat(420);

function readBody(request: IncomingMessage, done: (body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () =>
    done(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)),
  );
}

function answerJson(response: ServerResponse, body: string): void {
  response.writeHead(200, { "Content-Type": "application/json", "Content-Length": body.length });
  response.end(body);
}
