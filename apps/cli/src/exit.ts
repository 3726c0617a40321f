/** Ends a failed command: one line on stderr, and an exit code by kind (docs/cli.md). */
import { type PosthasteError } from "@posthaste/client";
import { type CommanderError } from "commander";
import { plain } from "./output.ts";
import { type CommandVariable } from "./variables.ts";

export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  unreachable: 3,
  unauthorized: 4,
  unknown: 5,
  refused: 6,
  later: 7,
  interrupted: 130,
} as const;
type Kind = keyof typeof exitCodes;

/** CliError is a failure that the command itself found. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly kind: Kind;

  constructor(kind: Kind, text: string) {
    super(text);
    this.kind = kind;
  }
}

/** HalfDone reports a bulk change that a failure stopped. */
export class HalfDone extends Error {
  override readonly name = "HalfDone";

  constructor(done: string, cause: unknown) {
    super(done, { cause });
  }
}

/** Returns the system's message about a file, without its code. */
export function fileFault(kind: Kind, what: string, error: unknown): CliError {
  const { code, message } = error as NodeJS.ErrnoException;
  const said = /^[A-Z0-9]+: ([^,]+)/.exec(message)?.[1] ?? code ?? message;
  return new CliError(kind, `${what}: ${said}`);
}

export type Ending = { readonly code: number; readonly line?: string };

/** The server that the command asked, and the variable that names it. */
export type Asked = { readonly server: string; readonly named: CommandVariable };

export function endingOf(error: unknown, asked: Asked, interrupted: AbortSignal): Ending {
  if (interrupted.aborted && !isCliError(error) && !isHalfDone(error))
    return { code: exitCodes.interrupted, line: "posthaste: interrupted" };
  if (isHalfDone(error)) {
    const [kind, text] = kindOf(error.cause, asked);
    return { code: exitCodes[kind], line: `posthaste: ${error.message}, then: ${plain(text)}` };
  }
  // Help is not a failure. For a usage error commander has already printed the line.
  if (Error.isError(error) && error.name === "CommanderError") {
    const { exitCode } = error as CommanderError;
    return { code: exitCode === 0 ? exitCodes.ok : exitCodes.usage };
  }
  const [kind, text] = kindOf(error, asked);
  return { code: exitCodes[kind], line: `posthaste: ${plain(text)}` };
}

const isHalfDone = (error: unknown): error is HalfDone =>
  Error.isError(error) && error.name === "HalfDone";

export const isCliError = (error: unknown): boolean =>
  Error.isError(error) && error.name === "CliError";

function kindOf(error: unknown, asked: Asked): readonly [Kind, string] {
  if (!Error.isError(error)) return ["failed", String(error)];
  switch (error.name) {
    case "CliError":
      return [(error as CliError).kind, error.message];
    // The client's refusal to send a call.
    case "InvalidCall":
      return ["usage", error.message];
    case "PosthasteError":
      return refusalOf(error as PosthasteError, asked);
    default:
      return ["failed", `this should not have happened: ${error.message}`];
  }
}

function refusalOf(error: PosthasteError, { named, server }: Asked): readonly [Kind, string] {
  const { code, message, retryAfterSeconds, status = 0 } = error;
  if (code === "unreachable")
    return ["unreachable", `no server at ${server}: start one, or set ${named} or --server`];
  if (code === "no_answer")
    return [
      "unreachable",
      `${server} has not answered, and may have carried out the call or not: look before you repeat it`,
    ];
  if (code === "unexpected_answer")
    return ["unreachable", `the server at ${server} is not Posthaste: ${message}`];
  if (status === 401)
    return [
      "unauthorized",
      named === "POSTHASTE_URL"
        ? `${server} does not know this token: set POSTHASTE_TOKEN or choose a --profile`
        : `${server} does not know this user: set POSTHASTE_MANAGEMENT_USER and POSTHASTE_MANAGEMENT_PASSWORD`,
    ];
  if (status === 403) return ["unauthorized", `this token may not do that: ${message}`];
  if (status === 404) return ["unknown", message];
  if (status === 429 || status >= 500) {
    const when = retryAfterSeconds === undefined ? "later" : `in ${retryAfterSeconds} s`;
    return ["later", `${message}; try again ${when}`];
  }
  return ["refused", message];
}
