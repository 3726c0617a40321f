/**
 * Runs of a workflow at an even pace, by the npm package `@upstash/workflow`: steps, a group with a sleep, a wait, a
 * call, an invocation. Records each start, each delivery at the endpoint, and each result.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { type Server } from "node:http";
import { type AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Client as Qstash } from "@upstash/qstash";
import { Client, type WorkflowContext } from "@upstash/workflow";
import { createWorkflow, serveMany } from "@upstash/workflow/express";
import express, { type NextFunction, type Request, type Response } from "express";
import { type Journal, now } from "../history/journal.ts";
import { type Target } from "./publish.ts";

const retries = { retries: 20, retryDelay: "1000" } as const;
const pauseAfterRefusalMs = 500;
/** Longer than a pool keeps an idle connection, so that the pool closes each, never this server. */
const keepAliveMs = 600_000;

export class Workflows {
  readonly #journal: Journal;
  readonly #client: Client;
  readonly #server: Server;
  readonly #inFlight = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #next = 0;

  private constructor(target: Target, journal: Journal, server: Server) {
    this.#journal = journal;
    this.#client = new Client(settingsOf(target));
    this.#server = server;
  }

  static async open(target: Target, journal: Journal): Promise<Workflows> {
    const app = express();
    const server = app.listen(0, "127.0.0.1");
    server.keepAliveTimeout = keepAliveMs;
    await once(server, "listening");
    app.post("/third", express.text({ type: () => true }), (request, response) => {
      response.send(String(request.body));
    });
    const doing = new AsyncLocalStorage<string[]>();
    app.use(express.json({ verify: keepDigest }), watch(journal, doing));
    app.use(
      "/runs",
      serveMany(workflowsOf(journal, doing, urlOf(server)), {
        qstashClient: new Qstash(settingsOf(target)),
      }),
    );
    return new Workflows(target, journal, server);
  }

  get next(): number {
    return this.#next;
  }

  start(perSecond: number): void {
    this.#timer = setInterval(() => {
      const done = this.#run(this.#next++).then(() => void this.#inFlight.delete(done));
      this.#inFlight.add(done);
    }, 1_000 / perSecond);
  }

  /** Resolves when all runs begun have been acknowledged. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight);
  }

  async close(): Promise<void> {
    await this.stop();
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  /** Repeats the start under its name until it is acknowledged, and then the event likewise. */
  async #run(n: number): Promise<void> {
    const sentAt = now();
    const url = `${urlOf(this.#server)}/runs/order`;
    const start = { url, workflowRunId: `n${n}`, body: { n }, ...retries };
    const { workflowRunId: id } = await untilAccepted(() => this.#client.trigger(start));
    this.#journal.starts.push({ n, id, sentAt, at: now() });
    const event = { workflowRunId: id, eventId: eventOf(n), eventData: n };
    await untilAccepted(() => this.#client.notify(event));
  }
}

const settingsOf = ({ port, token }: Target) => ({
  baseUrl: `http://127.0.0.1:${port}`,
  token,
});

const urlOf = (server: Server): string =>
  `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const eventOf = (n: number): string => `event-${n}`;

async function untilAccepted<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch {
      await sleep(pauseAfterRefusalMs);
    }
  }
}

/** Returns the workflows. Each run returns `resultOf` of its number (history/runs.ts). */
function workflowsOf(journal: Journal, doing: AsyncLocalStorage<string[]>, url: string) {
  const step = (name: string, value: number): number => {
    doing.getStore()?.push(name);
    return value;
  };
  const half = createWorkflow(
    async (context: WorkflowContext<{ n: number }>) =>
      context.run("twice", () => step("twice", 2 * context.requestPayload.n)),
    { disableTelemetry: true },
  );
  const order = createWorkflow(
    async (context: WorkflowContext<{ n: number }>) => {
      const { n } = context.requestPayload;
      const one = await context.run("one", () => step("one", n));
      const [two, three] = await Promise.all([
        context.run("two", () => step("two", one + 1)),
        context.run("three", () => step("three", one + 2)),
        context.sleep("nap", 1),
      ]);
      const { eventData } = await context.waitForEvent<number>("wait", eventOf(n), {
        timeout: "1h",
      });
      const call = { url: `${url}/third`, method: "POST", body: String(n), ...retries } as const;
      const { body: called } = await context.call<number>("call", call);
      const { body: twice } = await context.invoke("invoke", {
        workflow: half,
        body: { n },
        ...retries,
      });
      const value = await context.run("sum", () =>
        step("sum", two + three + Number(eventData) + Number(called) + Number(twice) + n),
      );
      journal.ends.push({ n, at: now(), value });
      return value;
    },
    { disableTelemetry: true },
  );
  return { order, half };
}

type Seen = Request & { digest?: string };

function keepDigest(request: Seen, _: unknown, bytes: Buffer): void {
  request.digest = createHash("sha256").update(bytes).digest("base64");
}

const watch =
  (journal: Journal, doing: AsyncLocalStorage<string[]>) =>
  (request: Seen, response: Response, next: NextFunction): void => {
    const at = now();
    const steps: string[] = [];
    response.once("close", () => {
      journal.visits.push({
        ...{ at, until: now(), steps },
        run: String(request.headers["upstash-workflow-runid"]),
        id: String(request.headers["upstash-message-id"]),
        status: response.writableFinished ? response.statusCode : 0,
        digest: request.digest ?? "",
      });
    });
    doing.run(steps, next);
  };
