/**
 * The connection to one server, or to one node of a cluster. Owns the one connection; the scripts of a token store
 * are called through it.
 *
 * (1) a call is answered or rejected within the budget, and at once while Redis is away; calls are never queued.
 * (2) a call is sent only over a connection that has passed its checks.
 * (3) one line is logged per change; connecting is tried until `close`.
 */
import assert from "node:assert/strict";
import { StoreError, within } from "@posthaste/ports";
import { listIn } from "../answers.ts";
import { addressOf, redirectionIn, type Redirection } from "../cluster/slot-map.ts";
import { type Question } from "../gather.ts";
import {
  noAnswer,
  connect,
  type Connection,
  type ConnectionOptions,
  type Look,
  type Script,
} from "./connection.ts";
import {
  answered,
  atStart,
  closed,
  connected,
  failed,
  type Health,
  lost,
  pauseMs,
} from "./health.ts";
import { reasonOf } from "./reason.ts";

export type LinkOptions = ConnectionOptions & {
  readonly counts?: Counts;
  /** Called when the server is away, or back. */
  readonly changed?: () => void;
};

export type Counts = {
  calls: number;
  /** Calls that were answered by an error, or not in time. */
  failed: number;
  /** Calls that were not sent, because Redis was away. */
  refused: number;
  /** Connections that were tried, and those that passed their checks. */
  tries: number;
  connections: number;
};

export const noCounts = (): Counts => ({
  calls: 0,
  failed: 0,
  refused: 0,
  tries: 0,
  connections: 0,
});

/** The answer of a node that does not own all slots of a question. */
export class Redirected extends Error {
  readonly redirection: Redirection;
  constructor(redirection: Redirection, cause: unknown) {
    super(`the node redirects: ${reasonOf(cause)}`, { cause });
    this.redirection = redirection;
  }
}

export class Link {
  readonly #options: LinkOptions;
  readonly #closing = new AbortController();
  readonly #kept: Promise<void>;
  readonly #counts: Counts;
  readonly #tried = Promise.withResolvers<void>();
  #health: Health = atStart;
  #connection: Connection | undefined;
  #endPause = (): void => undefined;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#counts = options.counts ?? noCounts();
    this.#kept = this.#keepConnected();
  }

  get counts(): Counts {
    return { ...this.#counts };
  }

  get problem(): string | undefined {
    return this.#health.kind === "down" ? this.#health.reason : undefined;
  }

  /** Resolves when the first connection was made, or failed. */
  get tried(): Promise<void> {
    return this.#tried.promise;
  }

  /** Returns one answer for each question, in a form of the script's own. A node may reject as `Redirected`. */
  async ask(
    script: Script,
    questions: readonly Question[],
    isAsking = false,
  ): Promise<readonly unknown[]> {
    const [connection, asked] = [this.#connection, this.#health];
    if (connection === undefined || asked.kind === "down") {
      this.#counts.refused++;
      throw new StoreError("unavailable", `Redis is away: ${this.problem}`);
    }
    this.#counts.calls++;
    try {
      const work = run(connection, script, questions, isAsking);
      const { clock, budgetMs } = this.#options;
      const answers = await within(clock, budgetMs, work, noAnswer(budgetMs));
      if (this.#health.kind === "up") this.#become(answered(this.#health), connection);
      return answers;
    } catch (cause) {
      const reason = reasonOf(cause);
      const { node } = this.#options;
      const redirection = node && redirectionIn(reason, node);
      if (redirection) {
        if (this.#health.kind === "up") this.#become(answered(this.#health), connection);
        throw new Redirected(redirection, cause);
      }
      this.#counts.failed++;
      if (this.#health.kind === "up") this.#become(failed(this.#health, asked, reason), connection);
      throw new StoreError("unavailable", `Redis failed: ${reason}`, { cause });
    }
  }

  /** Is like `Connection.look`, but rejects when the node is away, or does not answer within the budget. */
  async look(): Promise<Look> {
    const { clock, budgetMs } = this.#options;
    if (this.#connection === undefined) throw new Error(`Redis is away: ${this.problem}`);
    return within(clock, budgetMs, this.#connection.look(), noAnswer(budgetMs));
  }

  async close(): Promise<void> {
    this.#health = closed;
    this.#closing.abort();
    this.#endPause();
    await this.#kept;
  }

  async #keepConnected(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        this.#counts.tries++;
        const connection = await connect(this.#options, signal);
        this.#use(connection);
        this.#tried.resolve();
        const reason = await connection.ended;
        this.#become(lost(this.#health, reason), connection);
      } catch (error) {
        const reason = this.#options.explain?.(error) ?? reasonOf(error);
        this.#become(lost(this.#health, reason), undefined);
      }
      this.#tried.resolve();
      await this.#pause();
    }
  }

  #use(connection: Connection): void {
    this.#connection = connection;
    this.#counts.connections++;
    this.#become(connected(this.#health), connection);
  }

  /** Ignores changes of an earlier connection. */
  #become(next: Health, connection: Connection | undefined): void {
    if (this.#closing.signal.aborted || connection !== this.#connection) return;
    const before = this.#health;
    const { log, node, changed } = this.#options;
    const server = node && { server: addressOf(node) };
    this.#health = next;
    if (next.kind === "up") {
      if (before.kind === "up") return;
      log.info("tokens.up", server);
      changed?.();
      return;
    }
    this.#connection = undefined;
    connection?.end();
    if (before.kind === "up" || before.reason !== next.reason)
      log.warn("tokens.down", { ...server, reason: next.reason });
    if (before.kind === "up") changed?.();
  }

  async #pause(): Promise<void> {
    const health = this.#health;
    if (this.#closing.signal.aborted || health.kind === "up") return;
    await new Promise<void>((resolve) => {
      const callOff = this.#options.clock.after(pauseMs(health), resolve);
      this.#endPause = () => {
        callOff();
        resolve();
      };
    });
  }
}

async function run(
  { serverId, run }: Connection,
  script: Script,
  questions: readonly Question[],
  isAsking: boolean,
): Promise<readonly unknown[]> {
  const keys = questions.flatMap((question) => question.keys);
  const args = [serverId, ...questions.flatMap((question) => question.args)];
  const answers = listIn(await run(script, keys, args, isAsking));
  assert(answers.length === questions.length, "a script answers each question");
  return answers;
}
