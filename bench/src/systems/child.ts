/** Starts, awaits and stops a process, which never outlives the benchmark. */
import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";

export type Command = {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly argv0?: string;
};

/** An option of each Node under measurement: V8 would discard compiled code while other systems take their turns (ADR 224). */
export const keepCode = "--no-memory-reducer";

const outputCharsMax = 4_000;
const stopMsMax = 10_000;

const running = new Set<ChildProcess>();
process.on("exit", () => {
  for (const process of running) process.kill("SIGKILL");
});

export class Child {
  readonly name: string;
  readonly #process: ChildProcess;
  readonly #ended: Promise<void>;
  #output = "";
  #hasEnded = false;

  constructor({ name, file, args, env, argv0 }: Command) {
    this.name = name;
    this.#process = spawn(file, args, {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...inheritedEnvironment(), ...env },
      ...(argv0 === undefined ? {} : { argv0 }),
    });
    running.add(this.#process);
    const keep = (chunk: unknown) => {
      this.#output = (this.#output + String(chunk)).slice(-outputCharsMax);
    };
    this.#process.stdout?.on("data", keep);
    this.#process.stderr?.on("data", keep);
    this.#ended = new Promise((resolve) => {
      const end = () => {
        this.#hasEnded = true;
        running.delete(this.#process);
        resolve();
      };
      this.#process.once("error", (error) => {
        keep(error.message);
        end();
      });
      this.#process.once("exit", end);
    });
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  get output(): string {
    return this.#output.trim();
  }

  /** Resolves when `isReady` does. Throws when the process ends first or the time is over. */
  async ready(isReady: () => Promise<boolean>, withinMs: number): Promise<void> {
    const deadline = performance.now() + withinMs;
    while (!(await isReady())) {
      const why = this.#hasEnded ? "ended" : "was not ready in time";
      if (this.#hasEnded || performance.now() > deadline) {
        const output = this.output;
        await this.stop();
        throw new Error(`${this.name} ${why}: ${output || "no output"}`);
      }
      await sleep(50);
    }
  }

  async stop(): Promise<void> {
    if (this.#hasEnded) return;
    this.#process.kill("SIGTERM");
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), stopMsMax);
    await this.#ended;
    clearTimeout(timer);
  }
}

/** Drops variables of Posthaste, so that a setting of the shell does not change the measurement. */
function inheritedEnvironment(): NodeJS.ProcessEnv {
  const isOurs = ([name]: readonly [string, unknown]) => name.startsWith("POSTHASTE_");
  return Object.fromEntries(Object.entries(process.env).filter((entry) => !isOurs(entry)));
}
