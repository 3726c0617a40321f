/** Workflow endpoints for tests: routes of the unmodified SDK behind plain `node:http`. Counts the deliveries. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { close, listen, portOf } from "./loopback.ts";

type Handler = (request: Request) => Promise<Response>;

export type Delivery = {
  readonly headers: IncomingMessage["headers"];
  /** The length of the history that the delivery carries. */
  readonly length: number;
};

export class WorkflowEndpoint {
  readonly #server: Server;
  readonly #routes = new Map<string, Handler>();
  readonly #deliveries = new Map<string, Delivery[]>();

  private constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async start(): Promise<WorkflowEndpoint> {
    const endpoint = new WorkflowEndpoint();
    await listen(endpoint.#server);
    return endpoint;
  }

  route(path: string, handler: Handler): string {
    this.#routes.set(path, handler);
    return `http://127.0.0.1:${portOf(this.#server)}${path}`;
  }

  deliveries(path: string): readonly Delivery[] {
    return this.#deliveries.get(path) ?? [];
  }

  stop(): Promise<void> {
    return close(this.#server);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? "";
    const body = await buffer(request);
    const known = this.#deliveries.get(path) ?? [];
    known.push({ headers: request.headers, length: historyLength(body) });
    this.#deliveries.set(path, known);
    const handler = this.#routes.get(path);
    if (!handler) return void response.writeHead(404).end();
    const headers = Object.entries(request.headersDistinct).flatMap(([name, values = []]) =>
      values.map((value): [string, string] => [name, value]),
    );
    const url = `http://${request.headers.host}${path}`;
    const answered = await handler(
      new Request(url, { method: "POST", headers, ...(body.length > 0 && { body }) }),
    );
    response.writeHead(answered.status, Object.fromEntries(answered.headers));
    response.end(Buffer.from(await answered.arrayBuffer()));
  }
}

function historyLength(body: Buffer): number {
  try {
    const json: unknown = JSON.parse(body.toString());
    return Array.isArray(json) ? json.length : 0;
  } catch {
    return 0;
  }
}
