/** The standalone in this process, for development. */
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { type Command } from "commander";
import { CliError } from "../exit.ts";
import { type Acting } from "../session.ts";

type Options = { readonly port?: string; readonly data?: string };

/** What callers have in their environment: the server would take it for its own, or refuse it. */
const ofCallers = ["POSTHASTE_URL", "POSTHASTE_TOKEN", "POSTHASTE_MANAGEMENT_URL"];
/** In the package, and in the repository. */
const consoleFolders = ["console", "../../../console/dist"].map((folder) =>
  join(import.meta.dirname, folder),
);
/** The catcher and the management API have the next two. */
const portMax = 65_533;

export function addDev(program: Command, acting: Acting): void {
  program
    .command("dev")
    .description("a server to develop with, until Ctrl-C")
    .option("--port <number>", "its port; what is sent to the next one is printed", "8080")
    .option("--data <folder>", "where it keeps what it has", ".posthaste")
    .action(
      acting<Options>(async (_session, _words, { port = "", data = "" }) => {
        const number = /^\d{1,5}$/.test(port) ? Number(port) : 0;
        if (number < 1 || number > portMax)
          throw new CliError("usage", `--port: must be a number from 1 to ${portMax}`);
        for (const each of [number, number + 1]) await mustBeFree(each);
        // It is configured by the environment of the process, as everywhere.
        const { env } = process;
        for (const name of ofCallers) delete env[name];
        env["POSTHASTE_PROFILE"] = "dev";
        env["POSTHASTE_PORT"] = port;
        env["POSTHASTE_DATA_DIR"] = data;
        env["POSTHASTE_CONSOLE"] ??= consoleFolders.find((folder) => existsSync(folder)) ?? "off";
        await import("@posthaste/standalone-process");
      }),
    );
}

/** The server says so, too, in its log. */
function mustBeFree(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server
      .once("error", () =>
        reject(new CliError("usage", `port ${port} is taken: --port names another`)),
      )
      .listen(port, "127.0.0.1", () => server.close(() => resolve()));
  });
}
