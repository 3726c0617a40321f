/**
 * A server that is started, waited for, killed, paused, started again and stopped, at the caller's word.
 *
 * (1) it never outlives the process that started it: it has a process group of its own, which stands in the last will.
 * (2) `start` and `restart` resolve when it answers; what it wrote last is in the error when it does not.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { addWill, removeWill } from "./last-will.ts";

export type Command = {
  /** For error messages: "Kafka 4.1.2". */
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** What the program is told as its own name. */
  readonly argv0?: string;
  /** What asks it to end in good order; SIGTERM when absent. */
  readonly stopSignal?: NodeJS.Signals;
};

/** Is called again and again until it says yes. `output` is what the server has written since it was last started. */
export type Probe = (output: string) => boolean | Promise<boolean>;

export type ProcessState =
  | { readonly kind: "starting" | "ready" | "paused" }
  /** `how`: "exit code 1", or the signal. */
  | { readonly kind: "ended"; readonly how: string };

export type Observer = {
  /** Is told of every change, also of one that was asked for. */
  readonly onState?: (state: ProcessState) => void;
  /** Is told each line that the server writes. */
  readonly onLine?: (line: string) => void;
};

/** What a test or a supervisor may do to a server. */
export type ProcessControls = {
  readonly pid: number | undefined;
  readonly isRunning: boolean;
  /** The end of what it has written since it was last started. */
  readonly output: string;
  /** Resolves when it is gone. SIGKILL when no other signal is given. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** SIGSTOP: its connections stay open and get no answer. */
  pause(): void;
  resume(): void;
  /** Stops it if it runs; starts it on the same port with the same data. */
  restart(): Promise<void>;
  /** Asks it to end, and kills it if that takes too long. */
  stop(): Promise<void>;
};

const outputCharsMax = 64_000;
const shownCharsMax = 4_000;
const probeMs = 50;
const startMsMax = 180_000;
const stopMsMax = 20_000;
const lastWordsMsMax = 1_000;

export class ServerProcess implements ProcessControls {
  readonly name: string;
  readonly #command: Command;
  readonly #isReady: Probe;
  readonly #observer: Observer;
  #child: ChildProcess | undefined;
  #ended: Promise<void> = Promise.resolve();
  #output = "";
  #isPaused = false;

  constructor(command: Command, isReady: Probe, observer: Observer = {}) {
    this.name = command.name;
    this.#command = command;
    this.#isReady = isReady;
    this.#observer = observer;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  get isRunning(): boolean {
    return this.#child !== undefined;
  }

  get output(): string {
    return this.#output.trim();
  }

  async start(): Promise<void> {
    if (this.#child !== undefined) throw new Error(`${this.name} runs already`);
    // Its answers would be taken for ours.
    if (await this.#isReady(""))
      throw new Error(`${this.name} cannot start: another process answers on its port`);
    this.#observer.onState?.({ kind: "starting" });
    this.#spawn();
    const deadline = performance.now() + startMsMax;
    for (;;) {
      const isReady = await this.#isReady(this.#output);
      if (!this.isRunning) throw this.#failure("ended before it was ready");
      if (isReady) break;
      if (performance.now() > deadline) {
        await this.kill();
        throw this.#failure("was not ready in time");
      }
      await sleep(probeMs);
    }
    this.#observer.onState?.({ kind: "ready" });
  }

  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    this.#signal(signal);
    await this.#ended;
  }

  pause(): void {
    this.#signal("SIGSTOP");
    this.#isPaused = true;
    this.#observer.onState?.({ kind: "paused" });
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#signal("SIGCONT");
    this.#observer.onState?.({ kind: "ready" });
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  async stop(): Promise<void> {
    if (!this.isRunning) return;
    // A paused process would hear of its end only when it goes on.
    this.resume();
    this.#signal(this.#command.stopSignal ?? "SIGTERM");
    const timer = setTimeout(() => this.#signal("SIGKILL"), stopMsMax);
    await this.#ended;
    clearTimeout(timer);
  }

  #spawn(): void {
    const { name: _, file, args, stopSignal: __, ...options } = this.#command;
    const child = spawn(file, args, {
      ...options,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const { pid } = child;
    if (pid !== undefined) addWill(`group ${pid}`);
    this.#child = child;
    this.#isPaused = false;
    this.#output = "";
    const keep = (text: string) => {
      this.#output = (this.#output + text).slice(-outputCharsMax);
    };
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", keep);
      const { onLine } = this.#observer;
      if (onLine) createInterface({ input: stream }).on("line", onLine);
    }
    this.#ended = new Promise((resolve) => {
      const end = (how: string) => {
        if (pid !== undefined) removeWill(`group ${pid}`);
        this.#child = undefined;
        this.#observer.onState?.({ kind: "ended", how });
        resolve();
      };
      child.once("error", (error) => {
        keep(error.message);
        end(error.message);
      });
      child.once("exit", (code, signal) => {
        const how = signal ?? `exit code ${code}`;
        // Its last words are on their way. A process that it has left behind must not hold the line, nor us by it.
        const timer = setTimeout(() => {
          for (const stream of [child.stdout, child.stderr]) stream.destroy();
        }, lastWordsMsMax);
        child.once("close", () => {
          clearTimeout(timer);
          end(how);
        });
      });
    });
  }

  #failure(why: string): Error {
    const output = this.output.slice(-shownCharsMax);
    return new Error(`${this.name} ${why}: ${output || "it wrote nothing"}`);
  }

  /** To the whole group: what the server has started gets it, too. */
  #signal(signal: NodeJS.Signals): void {
    const pid = this.#child?.pid;
    if (pid === undefined) return;
    try {
      process.kill(-pid, signal);
    } catch {
      // It has ended, and its exit event is on its way.
    }
  }
}
