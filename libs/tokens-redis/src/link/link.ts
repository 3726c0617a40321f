/**
 * The way to Redis. Owns the one connection of a token store; asked by its scripts.
 *
 * (1) a call is answered or rejected within the budget, and at once while Redis is away; nothing is ever queued.
 * (2) a call goes out only over a connection that has proved itself.
 * (3) there is one line per change, and no end to trying until `close`.
 */
import assert from "node:assert/strict";
import { type Log, StoreError, within } from "@posthaste/ports";
import { listIn } from "../answers.ts";
import { type Question } from "../gather.ts";
import {
  noAnswer,
  connect,
  type Connection,
  type ConnectionOptions,
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

export type LinkOptions = ConnectionOptions & { readonly log: Log };

/** Since the start. */
export type Counts = {
  /** Script calls that went out. */
  readonly calls: number;
  /** Of these the ones that were answered by an error, or not in time. */
  readonly failed: number;
  /** Calls that did not go out, because Redis was away. */
  readonly refused: number;
  /** Connections that were tried, and those of them that proved themselves. */
  readonly tries: number;
  readonly connections: number;
};

export class Link {
  readonly #options: LinkOptions;
  readonly #closing = new AbortController();
  readonly #kept: Promise<void>;
  readonly #counts = { calls: 0, failed: 0, refused: 0, tries: 0, connections: 0 };
  #health: Health = atStart;
  #connection: Connection | undefined;
  #endPause = (): void => undefined;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#kept = this.#keepConnected();
  }

  get counts(): Counts {
    return { ...this.#counts };
  }

  /** Why Redis is away; undefined while it is not. */
  get problem(): string | undefined {
    return this.#health.kind === "down" ? this.#health.reason : undefined;
  }

  /** One answer for each question, in a form of the script's own. */
  async ask(script: Script, questions: readonly Question[]): Promise<readonly unknown[]> {
    const [connection, asked] = [this.#connection, this.#health];
    if (connection === undefined || asked.kind === "down") {
      this.#counts.refused++;
      throw new StoreError("unavailable", `Redis is away: ${this.problem}`);
    }
    this.#counts.calls++;
    try {
      const work = run(connection, script, questions);
      const { clock, budgetMs } = this.#options;
      const answers = await within(clock, budgetMs, work, noAnswer(budgetMs));
      if (this.#health.kind === "up") this.#become(answered(this.#health), connection);
      return answers;
    } catch (cause) {
      this.#counts.failed++;
      const reason = reasonOf(cause);
      if (this.#health.kind === "up") this.#become(failed(this.#health, asked, reason), connection);
      throw new StoreError("unavailable", `Redis failed: ${reason}`, { cause });
    }
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
        const reason = await connection.ended;
        this.#become(lost(this.#health, reason), connection);
      } catch (error) {
        this.#become(lost(this.#health, reasonOf(error)), undefined);
      }
      await this.#pause();
    }
  }

  #use(connection: Connection): void {
    this.#connection = connection;
    this.#counts.connections++;
    this.#become(connected(this.#health), connection);
  }

  /** What an earlier connection still has to say is not about this one. */
  #become(next: Health, connection: Connection | undefined): void {
    if (this.#closing.signal.aborted || connection !== this.#connection) return;
    const before = this.#health;
    this.#health = next;
    if (next.kind === "up") {
      if (before.kind === "down") this.#options.log.info("tokens.up");
      return;
    }
    this.#connection = undefined;
    connection?.end();
    if (before.kind === "up" || before.reason !== next.reason)
      this.#options.log.warn("tokens.down", { reason: next.reason });
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
): Promise<readonly unknown[]> {
  const keys = questions.flatMap((question) => question.keys);
  const args = [serverId, ...questions.flatMap((question) => question.args)];
  const answers = listIn(await run(script, keys, args));
  assert(answers.length === questions.length, "a script answers each question");
  return answers;
}
