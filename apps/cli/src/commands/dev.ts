/** Runs the standalone in this process, for development. */
import { randomBytes } from "node:crypto";
import { createServer } from "node:net";
import { type Command } from "commander";
import { CliError } from "../exit.ts";
import { withDefault } from "../option.ts";
import { consoleFolder, dataFolder, portIn, serverEnv } from "../local-server.ts";
import { type Acting } from "../session.ts";
import { type CommandVariable, type Environment } from "../variables.ts";

type Options = { readonly port?: string; readonly data?: string };

/** Client variables that the server would take for its own. The development server prints its token. */
const ofCallers = ["POSTHASTE_TOKEN"] as const satisfies readonly CommandVariable[];
const passwordBytes = 18;

export function addDev(program: Command, acting: Acting): void {
  const dev = program.command("dev").description("run a server for development, until Ctrl-C");
  withDefault(dev, "--port <number>", {
    about:
      "Port of the server; the next port prints each request, and the one after that is the operator's",
    ...{ fallback: "8080", example: "9000" },
  });
  withDefault(dev, "--data <folder>", {
    ...{
      about: "Folder for messages and secrets",
      fallback: ".posthaste",
      example: "/tmp/posthaste",
    },
  });
  dev.action(
    acting<Options>(async ({ output }, _words, { port = "", data = "" }) => {
      const number = portIn(port);
      for (const each of [number, number + 1, number + 2]) await mustBeFree(each);
      // The environment configures the server, as in every process.
      const env = serverEnv();
      for (const name of ofCallers) delete env[name];
      env["POSTHASTE_PROFILE"] = "dev";
      env["POSTHASTE_PORT"] = port;
      env["POSTHASTE_DATA_DIR"] = dataFolder(data);
      const made = operatorFor(env);
      Object.assign(env, made);
      env["POSTHASTE_CONSOLE"] ??= consoleFolder();
      await import("@posthaste/standalone-process");
      if (made) output.raw(shownOperator(made));
    }),
  );
}

type Operator = Readonly<
  Record<"POSTHASTE_MANAGEMENT_USER" | "POSTHASTE_MANAGEMENT_PASSWORD", string>
>;

/**
 * Returns credentials of the operator, or undefined if the environment has both. The password is random: a well-known
 * one would open the API to any page in a browser.
 */
function operatorFor(env: Environment): Operator | undefined {
  if (env.POSTHASTE_MANAGEMENT_USER && env.POSTHASTE_MANAGEMENT_PASSWORD) return undefined;
  const password = randomBytes(passwordBytes).toString("base64url");
  return { POSTHASTE_MANAGEMENT_USER: "operator", POSTHASTE_MANAGEMENT_PASSWORD: password };
}

const shownOperator = (made: Operator): string =>
  [
    "  For the commands of the operator (until this server ends):",
    "",
    ...Object.entries(made).map(([name, value]) => `    export ${name}=${value}`),
    "",
    "",
  ].join("\n");

function mustBeFree(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server
      .once("error", () =>
        reject(new CliError("usage", `port ${port} is taken: choose another with --port`)),
      )
      .listen(port, "127.0.0.1", () => server.close(() => resolve()));
  });
}
