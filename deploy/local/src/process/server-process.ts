/**
 * Starts, awaits, kills, pauses, restarts and stops a server process.
 *
 * (1) A server never outlives the process that started it: its process group is in the last will.
 * (2) `start` and `restart` resolve when the server answers. An error holds the server's last output.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { addWill, removeWill } from "./last-will.ts";

/** The command of a server; `ServerProcess` reads its fields anew at each start. */
export type Command = {
  /** The name in error messages, such as "Kafka 4.1.2". */
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** The program's own name, argv[0]. */
  readonly argv0?: string;
  /** The signal for an orderly end. Default SIGTERM. */
  readonly stopSignal?: NodeJS.Signals;
};

/** Called until it returns true. `output`: the server's output since its last start. */
export type Probe = (output: string) => boolean | Promise<boolean>;

export type ProcessState =
  | { readonly kind: "starting" | "ready" | "paused" }
  /** `how`: "exit code 1", or the signal. */
  | { readonly kind: "ended"; readonly how: string };

export type Observer = {
  /** Called with every change, requested ones included. */
  readonly onState?: (state: ProcessState) => void;
  readonly onLine?: (line: string) => void;
};

export type ProcessControls = {
  readonly pid: number | undefined;
  readonly isRunning: boolean;
  /** The end of the output since the last start. */
  readonly output: string;
  /** Resolves when the process has ended. Default SIGKILL. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Sends a signal that the process survives. */
  signal(signal: NodeJS.Signals): void;
  /** Sends SIGSTOP: connections stay open and get no answer. */
  pause(): void;
  resume(): void;
  /** Stops the server if it runs, and starts it on the same port with the same data. */
  restart(): Promise<void>;
  /** Asks the server to end, and kills it if that takes too long. */
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
    // Another process's answers would be taken for this server's.
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

  signal(signal: NodeJS.Signals): void {
    this.#signal(signal);
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
    // A paused process handles its signal only when it continues.
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
        // Waits for the last output, but not for a child process that still holds the pipe.
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

  /** Signals the whole group, so that the server's own children get it, too. */
  #signal(signal: NodeJS.Signals): void {
    const pid = this.#child?.pid;
    if (pid === undefined) return;
    try {
      process.kill(-pid, signal);
    } catch {
      // The process has ended, and its exit event is on its way.
    }
  }
}
