/** The destination of the crash run: journals each arrival; `/flaky` refuses a number's first request. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { bodyOf } from "./body.ts";
import { type Arrival, type Journal } from "./journal.ts";

export function createDestination(journal: Journal<Arrival>): Server {
  const refused = new Set<number>();
  return createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => answer(request, Buffer.concat(chunks), response));
  });

  function answer(request: IncomingMessage, body: Buffer, response: ServerResponse): void {
    const id = String(request.headers["service-message-id"]);
    if (request.url === "/callback") {
      const told = JSON.parse(body.toString()) as { sourceMessageId: string };
      journal.write({
        at: Date.now(),
        n: -1,
        id,
        status: 200,
        intact: true,
        source: told.sourceMessageId,
      });
      response.end();
      return;
    }
    const n = Number.parseInt(body.toString("latin1"), 10);
    const isRefused = request.url === "/flaky" && !refused.has(n);
    if (isRefused) refused.add(n);
    const status = isRefused ? 503 : 200;
    journal.write({ at: Date.now(), n, id, status, intact: body.equals(bodyOf(n)) });
    response.writeHead(status).end();
  }
}
