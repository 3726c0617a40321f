/** Runs the command line in this process, with streams that tests read. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { Readable } from "node:stream";
import { beforeAll } from "@jest/globals";
import { run } from "@posthaste/cli";
import { bareEnv } from "@posthaste/testing/bare-env";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { eventually, hasLength } from "./client.ts";
import { type Json, textOf } from "./json.ts";
import { operatorEnv, operatorPassword, operatorUser } from "./operator.ts";
import { developmentToken } from "./server-process.ts";
import { server, startBeforeTests } from "./suite.ts";

type Said = {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly json: readonly Json[];
};

type Around = {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array;
  readonly isTerminal?: boolean;
  readonly interrupted?: AbortSignal;
  /** Hears the output so far, each time that it grows. */
  readonly heard?: (out: string) => void;
};

const main = new URL("../../apps/cli/src/main.ts", import.meta.url).pathname;

class CommandLine {
  readonly #env: Readonly<Record<string, string>>;
  readonly #home = temporaryFolder();

  constructor(env: Readonly<Record<string, string>>) {
    this.#env = { HOME: this.#home, ...env };
  }

  async run(words: readonly string[], around: Around = {}): Promise<Said> {
    const { env = {}, interrupted = new AbortController().signal, isTerminal = false } = around;
    const said = { out: "", err: "" };
    const stream = (name: "out" | "err") => ({
      isTTY: isTerminal,
      write: (text: string) => {
        said[name] += text;
        around.heard?.(said.out);
      },
    });
    const code = await run(words, {
      env: { ...this.#env, ...env },
      out: stream("out"),
      err: stream("err"),
      stdin: Readable.from([around.stdin ?? ""]),
      interrupted,
    });
    const { err, out } = said;
    const lines = out.split("\n").filter((line) => line.startsWith("{"));
    return { code, out, err, json: lines.map((line) => JSON.parse(line) as Json) };
  }

  /** Runs the command as a process of its own, for signals. */
  spawn(words: readonly string[]): ChildProcessByStdio<null, Readable, Readable> {
    return spawn(process.execPath, [main, ...words], {
      env: { ...bareEnv, ...this.#env },
      stdio: ["ignore", "pipe", "pipe"],
    });
  }

  /** Runs the command as a process of its own, whose output goes to the file `out`. */
  async runInto(out: number, words: readonly string[]): Promise<Pick<Said, "code" | "err">> {
    const child = spawn(process.execPath, [main, ...words], {
      env: { ...bareEnv, ...this.#env },
      stdio: ["ignore", out, "pipe"],
    });
    let err = "";
    child.stderr?.on("data", (chunk) => (err += String(chunk)));
    const [code] = (await once(child, "close")) as [number];
    return { code, err };
  }

  async ok(...words: readonly string[]): Promise<readonly Json[]> {
    const { code, err, json } = await this.run(words);
    if (code !== 0) throw new Error(`${words.join(" ")}: ${code} ${err}`);
    return json;
  }

  /** Runs the command until it lists as many. */
  until(count: number, ...words: readonly string[]): Promise<readonly Json[]> {
    return eventually(() => this.ok(...words), hasLength(count));
  }

  /** Publishes with these words. Returns the id of the message. */
  async published(...words: readonly string[]): Promise<string> {
    return textOf((await this.ok("publish", ...words))[0]?.["messageId"]);
  }
}

/** The command line of the first user, who is the operator, too. */
export let cli: CommandLine;

/** Starts the server of a suite, and makes its command line. */
export function startCommandLine(): void {
  startBeforeTests({ env: operatorEnv });
  beforeAll(() => {
    cli = new CommandLine({
      POSTHASTE_URL: `http://127.0.0.1:${server.port}`,
      POSTHASTE_TOKEN: developmentToken,
      POSTHASTE_MANAGEMENT_URL: `http://127.0.0.1:${server.managementPort}`,
      POSTHASTE_MANAGEMENT_USER: operatorUser,
      POSTHASTE_MANAGEMENT_PASSWORD: operatorPassword,
    });
  });
}
