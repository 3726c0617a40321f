/** A real server process for tests: started, asked, stopped and killed as an operator would. */
import { type ChildProcess, spawn } from "node:child_process";
import { appendFileSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { bareEnv } from "@posthaste/testing/bare-env";
import { firstUser } from "./users.ts";

/** The public development credential of the dev profile (docs/design/security#development), or the suite's own user in its place. */
export const developmentToken = firstUser.token;

const main = fileURLToPath(new URL("../../services/standalone/process/main.ts", import.meta.url));
/** Long enough for a busy host. */
const readyMsMax = 90_000;
const readyRestMs = 25;

type Around = {
  readonly openFilesMax?: number | undefined;
  /** A file to which the output is written as well, for other processes. */
  readonly outputFile?: string | undefined;
};
type Running = { readonly child: ChildProcess; readonly ended: Promise<number | null> };

export class ServerProcess {
  readonly #settings: Readonly<Record<string, string>>;
  readonly #around: Around;
  #running: Running | undefined;
  #output = "";

  /** `settings`: the process's environment, over a quiet dev profile without a catcher. */
  constructor(settings: Readonly<Record<string, string>>, around: Around = {}) {
    this.#settings = settings;
    this.#around = around;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#settings["POSTHASTE_PORT"]}`;
  }

  get output(): string {
    return this.#output;
  }

  /** The peak of resident memory, as the kernel counts it. */
  get residentBytesMax(): number {
    const status = readFileSync(`/proc/${this.#running?.child.pid}/status`, "utf8");
    const kibibytes = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1];
    if (kibibytes === undefined) throw new Error("the kernel does not say what is resident");
    return Number(kibibytes) * 1_024;
  }

  async start(): Promise<void> {
    await this.#ready(this.#spawn());
  }

  /** Starts a process that should fail, and resolves with its exit code. */
  startInVain(): Promise<number | null> {
    return this.#spawn().ended;
  }

  signal(signal: NodeJS.Signals): void {
    this.#running?.child.kill(signal);
  }

  /** Resolves with the exit code, or with null after a signal. */
  async ended(): Promise<number | null> {
    if (!this.#running) throw new Error("not started");
    return this.#running.ended;
  }

  async kill(): Promise<void> {
    if (this.#running?.child.exitCode !== null)
      throw new Error(`the server ended by itself:\n${this.#output}`);
    this.signal("SIGKILL");
    await this.ended();
  }

  async stop(): Promise<void> {
    if (!this.#running) return;
    this.signal("SIGTERM");
    const code = await this.ended();
    if (code !== 0) throw new Error(`SIGTERM ended with ${code}:\n${this.#output}`);
  }

  #spawn(): Running {
    const env = {
      ...bareEnv,
      POSTHASTE_PROFILE: "dev",
      POSTHASTE_LOG_LEVEL: "warn",
      POSTHASTE_CATCHER: "off",
      ...this.#settings,
    };
    const command = [process.execPath, "--disable-warning=ExperimentalWarning", main];
    const { openFilesMax, outputFile } = this.#around;
    const limit = openFilesMax === undefined ? "" : `ulimit -n ${openFilesMax}; `;
    const child = spawn("/bin/sh", ["-c", `${limit}exec "$0" "$@"`, ...command], {
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (text: Buffer) => {
        this.#output += text.toString();
        if (outputFile !== undefined) appendFileSync(outputFile, text);
      });
    // At "exit" some of the output may still be missing.
    const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
    this.#running = { child, ended };
    return this.#running;
  }

  async #ready({ child }: Running): Promise<void> {
    const until = Date.now() + readyMsMax;
    while (Date.now() < until) {
      if (child.exitCode !== null) break;
      const response = await fetch(`${this.url}/readyz`).catch(() => undefined);
      await response?.arrayBuffer();
      if (response?.status === 200) return;
      await pause(readyRestMs);
    }
    // Left alone, the process would outlive the test and keep the run from ending.
    child.kill("SIGKILL");
    throw new Error(`the server did not get ready:\n${this.#output}`);
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
