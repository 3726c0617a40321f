/**
 * The environment of a scenario: one sink, one set of books, the systems that it starts, and its budget. Owns every
 * system and sink started for the scenario; `close` stops them all.
 *
 * (1) A figure that could not be measured becomes a note, a wrong count a fault. Neither is silent.
 */
import { type Book } from "../load/book.ts";
import { Books } from "../load/books.ts";
import { type Counts, countFaults, drained, overloaded } from "../load/drain.ts";
import { type Manners, Sink } from "../load/sink.ts";
import {
  type StartOptions,
  type StartSystem,
  type System,
  type SystemName,
} from "../systems/system.ts";

export type StageOptions = {
  readonly budgetMs: number;
  /** The rounds to play, however long that takes. Undefined: as many of five as fit into the budget. */
  readonly rounds?: number;
  /** The folder into which every Posthaste that is started profiles itself. */
  readonly profilePath?: string;
  /** The finished messages to begin with, however long that takes. Undefined: as many as fit. */
  readonly finishedWanted?: number;
  /** A checkout of an earlier commit to compare with. */
  readonly before?: string;
};

const roundsDefault = 5;

export class Stage {
  readonly books = new Books();
  readonly notes: string[] = [];
  readonly faults: string[] = [];
  /** Posthaste's messages that arrived, in all jobs. */
  arrived = 0;
  readonly finishedWanted: number | undefined;
  readonly before: string | undefined;
  readonly profilePath: string | undefined;
  readonly #deadline: number;
  readonly #rounds: number | undefined;
  readonly #startOptions: StartOptions;
  readonly #open: { stop(): Promise<void>; output?(): string }[] = [];

  constructor({ budgetMs, rounds, profilePath, finishedWanted, before }: StageOptions) {
    this.finishedWanted = finishedWanted;
    this.before = before;
    this.profilePath = profilePath;
    this.#deadline = performance.now() + budgetMs;
    this.#rounds = rounds;
    this.#startOptions = profilePath === undefined ? {} : { profilePath };
  }

  get remainingMs(): number {
    return Math.max(0, this.#deadline - performance.now());
  }

  say(line: string): void {
    console.error(`bench:   ${line}`);
  }

  note(text: string): void {
    this.say(`NOTE ${text}`);
    if (!this.notes.includes(text)) this.notes.push(text);
  }

  fault(text: string): void {
    this.say(`WRONG ${text}`);
    this.faults.push(text);
  }

  /** Starts a system. Returns undefined, with a loud note, when it cannot start here. */
  async start(name: SystemName, start: StartSystem): Promise<System | undefined> {
    const system = await this.attempt(name, () => start(this.#startOptions));
    if (system !== undefined) this.#open.push(system);
    return system;
  }

  /** Runs work that needs a running system. Returns undefined, with a loud note, when it fails. */
  async attempt<T>(name: SystemName, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.say(Error.isError(error) ? error.message : String(error));
      this.note(`${name} was NOT measured: the system could not be started or filled on this host`);
      return undefined;
    }
  }

  async startAll(
    starts: readonly (readonly [SystemName, StartSystem])[],
  ): Promise<readonly System[]> {
    const systems: System[] = [];
    for (const [name, start] of starts) {
      const system = await this.start(name, start);
      if (system !== undefined) systems.push(system);
    }
    return systems;
  }

  async sink(manners?: Manners): Promise<Sink> {
    const sink = await Sink.start(this.books, manners);
    this.#open.push(sink);
    return sink;
  }

  /** Starts a sink, and returns a URL of it. */
  async destination(manners?: Manners): Promise<string> {
    return `http://127.0.0.1:${(await this.sink(manners)).port}/x`;
  }

  /** Runs the rounds that were asked for, or as many of five as fit into a share of the remaining time. Returns their number. */
  async rounds(run: (round: number) => Promise<void>, share = 1): Promise<number> {
    const until = performance.now() + this.remainingMs * share;
    const wanted = this.#rounds ?? roundsDefault;
    for (let round = 0; round < wanted; round++) {
      const startedAt = performance.now();
      await run(round);
      const roundMs = performance.now() - startedAt;
      const isLast = round + 1 === wanted;
      if (!isLast && this.#rounds === undefined && performance.now() + roundMs > until) {
        this.note(`${round + 1} of ${wanted} rounds fitted into the time`);
        return round + 1;
      }
    }
    return wanted;
  }

  /** Waits for the arrivals of a job and records the faults of its counts. */
  async settle(who: string, book: Book, drainMsMax?: number): Promise<Counts> {
    const counts = await drained(this.books, book, drainMsMax);
    for (const fault of countFaults(who, counts)) this.fault(fault);
    const refused = counts.refusals.get(overloaded);
    if (refused !== undefined) {
      this.note(`${who} refused ${refused} of ${counts.sent} messages with ${overloaded}`);
    }
    if (who.startsWith("posthaste")) this.arrived += counts.arrived;
    return counts;
  }

  async stop(system: System): Promise<void> {
    this.#open.splice(this.#open.indexOf(system), 1);
    await system.stop();
  }

  async stopAll(): Promise<void> {
    for (const one of this.#open.splice(0).reverse()) {
      await one.stop();
      const output = this.faults.length === 0 ? undefined : one.output?.();
      if (output) this.say(`its last output: ${output}`);
    }
  }

  async close(): Promise<void> {
    await this.stopAll();
    if (this.books.strays > 0) this.fault(`${this.books.strays} unexpected messages arrived`);
  }
}
