/** The context of a command: its server, its output, and Ctrl-C. */
import { type Client, type Management } from "@posthaste/client";
import { createClient, createManagement } from "@posthaste/client/node";
import { type Command } from "commander";
import { CliError } from "./exit.ts";
import { Output, type Stream } from "./output.ts";
import { readProfiles } from "./profiles.ts";
import { type CommandVariable, type Environment } from "./variables.ts";

/** The process, or a test's stand-in. */
export type Host = {
  readonly env: Environment;
  readonly out: Stream;
  readonly err: Stream;
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly interrupted: AbortSignal;
};

export type GlobalOptions = {
  readonly json?: boolean;
  readonly server?: string;
  readonly profile?: string;
};

const defaultUrl = "http://127.0.0.1:8080";
const defaultManagementUrl = "http://127.0.0.1:8082";

export class Session {
  readonly host: Host;
  readonly output: Output;
  server = defaultUrl;
  named: CommandVariable = "POSTHASTE_URL";
  readonly #options: GlobalOptions;
  #client: Client | undefined;
  #patient: Client | undefined;
  #management: Management | undefined;

  constructor(host: Host, options: GlobalOptions) {
    this.host = host;
    this.#options = options;
    this.output = new Output(host.out, host.err, options.json === true, host.env);
  }

  /** The client whose calls Ctrl-C aborts. */
  get client(): Client {
    return (this.#client ??= this.#connect({ signal: this.host.interrupted }));
  }

  /** The client for page-by-page changes. Ctrl-C does not abort its calls, so each answer is seen. */
  get patientClient(): Client {
    return (this.#patient ??= this.#connect({}));
  }

  /** The client of the operator's API, with its own address and credentials. */
  get management(): Management {
    return (this.#management ??= this.#connectOperator());
  }

  close(): void {
    this.#client?.close();
    this.#patient?.close();
    this.#management?.close();
  }

  #connect(options: { readonly signal?: AbortSignal }): Client {
    const { env } = this.host;
    const { profile: name } = this.#options;
    const { current, profiles } = readProfiles(env);
    const chosen = name ?? current;
    const profile = chosen === undefined ? undefined : profiles[chosen];
    if (name !== undefined && !profile)
      throw new CliError("usage", `there is no profile ${name}: posthaste profile ls`);
    // The environment takes precedence over the current profile, and as a whole: a profile's token must not reach another server.
    const { POSTHASTE_URL: url, POSTHASTE_TOKEN: token } = env;
    const own = name === undefined && (url || token) ? { url, token } : profile;
    const ofOwn = own === profile ? `the profile ${chosen}` : "POSTHASTE_URL";
    this.#asks(ofOwn, own?.url || defaultUrl);
    if (!own?.token)
      throw new CliError(
        "unauthorized",
        "there is no token: set POSTHASTE_TOKEN, or make a profile with posthaste profile set",
      );
    return createClient({ url: this.server, token: own.token, ...options });
  }

  #asks(name: string, url: string): void {
    const { server } = this.#options;
    this.server = server === undefined ? serverUrl(name, url) : serverUrl("--server", server);
  }

  #connectOperator(): Management {
    const { env } = this.host;
    const name = "POSTHASTE_MANAGEMENT_URL";
    this.named = name;
    this.#asks(name, env[name] || defaultManagementUrl);
    const { POSTHASTE_MANAGEMENT_USER: user, POSTHASTE_MANAGEMENT_PASSWORD: password } = env;
    if (!user || !password)
      throw new CliError(
        "unauthorized",
        "the operator's commands need POSTHASTE_MANAGEMENT_USER and POSTHASTE_MANAGEMENT_PASSWORD",
      );
    return createManagement({
      ...{ url: this.server, user, password },
      signal: this.host.interrupted,
    });
  }
}

/** `name`: the option or variable, for the error. */
export function serverUrl(name: string, text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new CliError("usage", `${name}: ${text} is not a URL with http:// or https://`);
}

export type Act<O> = (session: Session, args: readonly string[], options: O) => Promise<void>;
/** Wraps an action for commander. */
export type Acting = <O>(act: Act<O>) => (...given: readonly unknown[]) => Promise<void>;

export const argumentsOf = (given: readonly unknown[]) => {
  const command = given.at(-1) as Command;
  return { args: command.processedArgs.flat() as readonly string[], command };
};
