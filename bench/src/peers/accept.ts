/** What both peers do with a publish: read it, make the headers of the delivery, answer with an id. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type Delivery } from "./deliver.ts";

export type Publish = {
  readonly id: string;
  readonly delivery: Delivery;
  /** It has a deduplication id and a flow key. */
  readonly isGuarded?: boolean;
};

const publishPath = "/v2/publish/";
const forwardPrefix = "service-forward-";

/** `take` answers when the message is as safe as this peer makes it. */
export function serve(port: number, take: (publish: Publish, answer: () => void) => void): void {
  let count = 0;
  const server = createServer((request, response) => {
    if (request.url === undefined || !request.url.startsWith(publishPath)) {
      response.end("ok");
      return;
    }
    const url = request.url.slice(publishPath.length);
    const id = `msg_${(++count).toString(36).padStart(24, "0")}`;
    const headers = deliveryHeaders(request, id);
    const isGuarded = request.headers["service-flow-control-key"] !== undefined;
    readBody(request, (body) => {
      take({ id, delivery: { url, headers, body }, isGuarded }, () => answerId(response, id));
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(port, "127.0.0.1");
}

/** As many headers as Posthaste sends, so that parsing them at the destination costs the same. */
function deliveryHeaders(request: IncomingMessage, id: string): Record<string, string> {
  const headers: Record<string, string> = {
    "user-agent": "relay",
    "content-type": request.headers["content-type"] ?? "application/octet-stream",
    "service-message-id": id,
    "service-retried": "0",
    "service-caller-ip": "127.0.0.1",
    "service-signature": signature,
  };
  for (const name in request.headers) {
    const value = request.headers[name];
    if (name.startsWith(forwardPrefix) && typeof value === "string") {
      headers[name.slice(forwardPrefix.length)] = value;
    }
  }
  return headers;
}

/** As long as a real one; the peers do not sign. */
const signature = "x".repeat(420);

function readBody(request: IncomingMessage, done: (body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () =>
    done(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)),
  );
}

function answerId(response: ServerResponse, id: string): void {
  const body = `{"messageId":"${id}"}`;
  response.writeHead(200, { "Content-Type": "application/json", "Content-Length": body.length });
  response.end(body);
}
