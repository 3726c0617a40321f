/** Runs the standalone in this process, in its production profile. */
import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { type Command } from "commander";
import { CliError, fileFault } from "../exit.ts";
import {
  aboutData,
  consoleFolder,
  dataFolder,
  orFail,
  portIn,
  serverEnv,
} from "../local-server.ts";
import { withValue } from "../option.ts";
import { type Acting } from "../session.ts";
import { type Environment } from "../variables.ts";

type Options = {
  readonly port?: string;
  readonly host?: string;
  readonly data?: string;
  readonly config?: string;
};

export function addServe(program: Command, acting: Acting): void {
  const serve = program
    .command("serve")
    .description("run a server for production, with all its data in one folder, until SIGTERM");
  withValue(serve, "--port <number>", {
    about: "Port of the server; the port two above is the operator's",
    ...{ fallback: "POSTHASTE_PORT, or 8080", example: "80" },
  });
  withValue(serve, "--host <address>", {
    about: "The address to listen on; 0.0.0.0 or :: for all",
    ...{ fallback: "POSTHASTE_HOST, or 127.0.0.1", example: "0.0.0.0" },
  });
  withValue(serve, "--data <folder>", aboutData);
  withValue(serve, "--config <file>", {
    about: "Variables, one NAME=value on each line; the environment wins",
    ...{ example: "/etc/posthaste.env" },
  });
  serve.action(
    acting<Options>(async ({ output }, _words, { port, host, data, config }) => {
      if (port !== undefined) portIn(port);
      if (config !== undefined) load(config);
      const env = serverEnv();
      const folder = dataFolder(data);
      Object.assign(env, {
        ...{ POSTHASTE_PROFILE: "production", POSTHASTE_DATA_DIR: folder },
        ...(port !== undefined && { POSTHASTE_PORT: port }),
        ...(host !== undefined && { POSTHASTE_HOST: host }),
      });
      const { firstSecrets } = await import("@posthaste/standalone-process/folder");
      const secrets = orFail(() => firstSecrets(folder, env));
      Object.assign(env, secrets);
      env["POSTHASTE_MANAGEMENT_USER"] ??= "operator";
      env["POSTHASTE_CONSOLE"] ??= consoleFolder();
      // Other commands end when their output cannot be written. A server continues without its log.
      process.stdout.removeAllListeners("error");
      await import("@posthaste/standalone-process");
      output.raw(shownSecrets(secrets, env));
    }),
  );
}

/** Adds the file's variables to those of the environment, which win. */
function load(file: string): void {
  const text = textOf(file);
  const wrong = text.split("\n").findIndex((line) => !isVariable(line));
  if (wrong >= 0)
    throw new CliError("usage", `--config ${file}: line ${wrong + 1} is not NAME=value`);
  const env = serverEnv();
  Object.assign(env, { ...parseEnv(text), ...env });
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw fileFault("usage", `--config ${file}`, error);
  }
}

/** Reports whether a line is blank, a comment, or sets a variable. `parseEnv` passes over all others. */
const isVariable = (line: string): boolean => /^\s*($|#|(export\s+)?\w+\s*=)/.test(line);

const shownSecrets = (secrets: Readonly<Record<string, string>>, env: Environment): string => {
  const { POSTHASTE_TOKEN_FILE: token, POSTHASTE_MANAGEMENT_PASSWORD_FILE: password } = secrets;
  const lines = [
    ...(token === undefined ? [] : [`export POSTHASTE_TOKEN=$(cat ${token})`]),
    ...(password === undefined
      ? []
      : [
          `export POSTHASTE_MANAGEMENT_USER=${env.POSTHASTE_MANAGEMENT_USER}`,
          `export POSTHASTE_MANAGEMENT_PASSWORD=$(cat ${password})`,
        ]),
  ];
  if (lines.length === 0) return "";
  return [
    "  For callers and for the operator:",
    "",
    ...lines.map((line) => `    ${line}`),
    "",
    "",
  ].join("\n");
};
