/** A proxy that serves several tools: forwards requests under its path, without the path, and counts running requests. */
import {
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from "node:http";
import { close, listen, portOf } from "./loopback.ts";

export class Proxy {
  readonly #server: Server;
  readonly #path: string;
  #waiting = 0;
  #atOnceMax = 0;

  private constructor(path: string, port: number | (() => number)) {
    this.#path = path;
    const portNow = (): number => (typeof port === "number" ? port : port());
    this.#server = createServer((req, res) => this.#handOn(portNow(), req, res));
  }

  /** `port`: the server's, which may not run yet. */
  static async start(path: string, port: number | (() => number)): Promise<Proxy> {
    const proxy = new Proxy(path, port);
    await listen(proxy.#server);
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${portOf(this.#server)}${this.#path}`;
  }

  get waitingAtOnceMax(): number {
    return this.#atOnceMax;
  }

  stop(): Promise<void> {
    return close(this.#server);
  }

  #handOn(port: number, req: IncomingMessage, res: ServerResponse): void {
    const { method, headers, url = "" } = req;
    if (!url.startsWith(this.#path)) return void res.writeHead(404).end();
    const path = url.slice(this.#path.length - 1);
    if (/^\/v2\/events\?(.*&)?wait=/.test(path)) this.#count(res);
    const onward = request({ host: "127.0.0.1", port, method, headers, path }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(res);
    });
    onward.on("error", () => res.destroy());
    res.on("close", () => onward.destroy());
    req.pipe(onward);
  }

  #count(res: ServerResponse): void {
    this.#waiting += 1;
    this.#atOnceMax = Math.max(this.#atOnceMax, this.#waiting);
    res.on("close", () => (this.#waiting -= 1));
  }
}
