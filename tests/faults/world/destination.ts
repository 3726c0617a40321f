/**
 * The destination of a run: records each request and its answer.
 *
 * /arrival 200 · /flaky refuses a number's first request · /failing refuses all · /lane/<name> takes a while, and so
 * does /queue/<name>, where some are flaky · /gated waits for the gate · /callback takes callbacks · /slot 200, of
 * schedules
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo } from "node:net";
import { bodyOf } from "../history/body.ts";
import { type Arrival, type Firing, now, type Told } from "../history/journal.ts";
import { isLane, isQueue } from "../history/kinds.ts";

/** Long enough for two messages of a lane or queue to meet. */
const laneHoldMs = 100;
const flakyInQueueEach = 3;
/** Longer than a pool keeps an idle connection, so that the pool closes each, never this server. */
const keepAliveMs = 600_000;

export class Destination {
  readonly #server: Server;
  readonly #arrived: (arrival: Arrival) => void;
  readonly #fired: (firing: Firing) => void;
  readonly #refused = new Set<number>();
  /** The requests that wait for the gate; undefined while it is open. */
  #waiting: Set<Finish> | undefined;

  private constructor(arrived: (arrival: Arrival) => void, fired: (firing: Firing) => void) {
    this.#arrived = arrived;
    this.#fired = fired;
    this.#server = createServer({ keepAliveTimeout: keepAliveMs }, (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => this.#receive(request, Buffer.concat(chunks), response));
    });
  }

  /** `arrived` is called with each request when it is answered or its connection has broken; `fired` with each slot's message. */
  static async start(
    arrived: (arrival: Arrival) => void,
    fired: (firing: Firing) => void = () => undefined,
  ): Promise<Destination> {
    const destination = new Destination(arrived, fired);
    destination.#server.listen(0, "127.0.0.1");
    await once(destination.#server, "listening");
    return destination;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The number of requests that wait for the gate and whose caller is still connected. */
  get held(): number {
    return this.#waiting?.size ?? 0;
  }

  closeGate(): void {
    this.#waiting ??= new Set();
  }

  openGate(): void {
    const waiting = [...(this.#waiting ?? [])];
    this.#waiting = undefined;
    for (const finish of waiting) finish(200);
  }

  async stop(): Promise<void> {
    this.openGate();
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  #receive(request: IncomingMessage, body: Buffer, response: ServerResponse): void {
    if (request.url === "/slot") {
      this.#fired(slotIn(request));
      response.end();
      return;
    }
    const came = { at: now(), ...seenIn(request, body) };
    let isOver = false;
    // Recorded before the answer is sent, so that its effects have no earlier time.
    const finish = (status: number): void => {
      if (isOver) return;
      isOver = true;
      this.#arrived({ ...came, until: now(), status });
      if (status > 0) response.writeHead(status).end();
    };
    response.once("close", () => {
      this.#waiting?.delete(finish);
      finish(0);
    });
    this.#answer(request.url ?? "", came, finish);
  }

  #answer(path: string, came: Pick<Arrival, "n" | "lane" | "queue">, finish: Finish): void {
    const { n, lane, queue } = came;
    if (path === "/failing") return finish(500);
    const isFlaky = path === "/flaky" || (queue !== undefined && n % flakyInQueueEach === 0);
    if (isFlaky && !this.#refused.has(n)) {
      this.#refused.add(n);
      return finish(503);
    }
    if (lane !== undefined || queue !== undefined) return void setTimeout(finish, laneHoldMs, 200);
    if (path === "/gated" && this.#waiting) this.#waiting.add(finish);
    else finish(200);
  }
}

type Finish = (status: number) => void;

const slotIn = ({ headers }: IncomingMessage): Firing => ({
  at: now(),
  schedule: String(headers["service-schedule-id"]),
  id: String(headers["service-message-id"]),
});

function seenIn(
  { url = "", headers }: IncomingMessage,
  body: Buffer,
): Omit<Arrival, "at" | "until" | "status"> {
  const id = String(headers["service-message-id"]);
  const retried = Number(headers["service-retried"]);
  if (url === "/callback") return { n: -1, id, retried, intact: true, tells: toldIn(body) };
  const n = Number.parseInt(body.toString("latin1"), 10);
  const name = url.replace(/^\/(lane|queue)\//, "");
  const intact = body.equals(bodyOf(n));
  return {
    n,
    id,
    retried,
    intact,
    ...(isLane(name) && { lane: name }),
    ...(isQueue(name) && { queue: name }),
  };
}

function toldIn(body: Buffer): Told {
  const { sourceMessageId, retried, dlqId } = JSON.parse(body.toString()) as {
    readonly sourceMessageId: string;
    readonly retried: number;
    readonly dlqId?: string;
  };
  return { source: sourceMessageId, retried, ...(dlqId !== undefined && { dlqId }) };
}
