/** The endpoint of a workflow of trivial steps, on plain `node:http` and undici, so that no client's own work is measured. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { Pool } from "undici";
import { token } from "./template.ts";

const connections = 64;

export class RunEndpoint {
  readonly #steps: number;
  readonly #pool: Pool;
  readonly #server: Server;
  readonly #ended = new Map<string, () => void>();
  deliveries = 0;
  received = 0;

  constructor(steps: number, port: number) {
    this.#steps = steps;
    this.#pool = new Pool(`http://127.0.0.1:${port}`, { connections, pipelining: 1 });
    this.#server = createServer((request, response) => void this.#answer(request, response));
    this.#server.keepAliveTimeout = 60_000;
  }

  async start(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
  }

  async stop(): Promise<void> {
    await this.#pool.close();
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** Starts a run with an id of its own, as clients do. Resolves when the endpoint has reported its end. */
  async run(): Promise<void> {
    const id = randomUUID();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ended.set(id, resolve);
    const { port } = this.#server.address() as AddressInfo;
    await this.#ask("POST", `/v2/trigger/http://127.0.0.1:${port}/run`, "{}", {
      "upstash-workflow-runid": id,
    });
    await promise;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    this.deliveries += 1;
    this.received += body.length;
    const id = String(request.headers["upstash-workflow-runid"]);
    const done = (JSON.parse(body.toString()) as unknown[]).length - 1;
    if (done < this.#steps) await this.#publishStep(id, request.headers.host ?? "", done + 1);
    else {
      await this.#ask("DELETE", `/v2/workflows/runs/${id}?cancel=false`, '"done"');
      this.#ended.get(id)?.();
      this.#ended.delete(id);
    }
    response.setHeader("Upstash-Workflow-Sdk-Version", "1");
    response.setHeader("Upstash-Workflow-Sdk", "v1.3.3").end("{}");
  }

  #publishStep(id: string, host: string, step: number): Promise<void> {
    const json = {
      stepId: step,
      stepName: `step ${step}`,
      stepType: "Run",
      out: "1",
      concurrent: 1,
    };
    const headers = {
      "upstash-workflow-runid": id,
      "upstash-workflow-init": "false",
      "content-type": "application/json",
    };
    const item = { destination: `http://${host}/run`, headers, body: JSON.stringify(json) };
    return this.#ask("POST", "/v2/batch", JSON.stringify([item]));
  }

  async #ask(
    method: "POST" | "DELETE",
    path: string,
    body: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const answered = await this.#pool.request({
      method,
      path,
      body,
      headers: { authorization: `Bearer ${token}`, ...headers },
    });
    const text = await answered.body.text();
    if (answered.statusCode >= 300) throw new Error(`${method} ${path}: ${text}`);
  }
}
