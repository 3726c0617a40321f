/** A real server process for tests: started, asked, stopped and killed as an operator would. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { fileURLToPath } from "node:url";

/** The public development credential of the dev profile (protocol/qstash.md §4.10). */
export const developmentToken =
  "eyJVc2VySUQiOiJkZWZhdWx0VXNlciIsIlBhc3N3b3JkIjoiZGVmYXVsdFBhc3N3b3JkIn0=";

const main = fileURLToPath(new URL("../main.ts", import.meta.url));
const readyMsMax = 30_000;

export class ServerProcess {
  readonly #settings: Readonly<Record<string, string>>;
  #child: ChildProcess | undefined;
  #output = "";

  /** Environment of the process; the dev profile, quiet and without a catcher, unless it says otherwise. */
  constructor(settings: Readonly<Record<string, string>>) {
    this.#settings = settings;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#settings["POSTHASTE_PORT"]}`;
  }

  get output(): string {
    return this.#output;
  }

  async start(): Promise<void> {
    const env = {
      PATH: process.env["PATH"],
      POSTHASTE_PROFILE: "dev",
      POSTHASTE_LOG_LEVEL: "warn",
      POSTHASTE_CATCHER: "off",
      ...this.#settings,
    };
    const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", main], {
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    child.stdout.on("data", (text: Buffer) => (this.#output += text.toString()));
    child.stderr.on("data", (text: Buffer) => (this.#output += text.toString()));
    await this.#ready(child);
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null)
      throw new Error(`the server ended by itself:\n${this.#output}`);
    child.kill("SIGKILL");
    await once(child, "exit");
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (!child) return;
    child.kill("SIGTERM");
    const [code] = (await once(child, "exit")) as [number | null];
    if (code !== 0) throw new Error(`SIGTERM ended with ${code}:\n${this.#output}`);
  }

  async #ready(child: ChildProcess): Promise<void> {
    const until = Date.now() + readyMsMax;
    while (Date.now() < until) {
      if (child.exitCode !== null) break;
      const response = await fetch(`${this.url}/readyz`).catch(() => undefined);
      await response?.arrayBuffer();
      if (response?.status === 200) return;
      await pause(10);
    }
    throw new Error(`the server did not get ready:\n${this.#output}`);
  }
}

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
