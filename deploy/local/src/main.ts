/**
 * `npm run stack`: runs the stores and the six services on this host, without Docker, until Ctrl-C. The exit code is 1 when a
 * server is unavailable, and 3 when `stores` or `fetch` needs a program that is not installed.
 */
import { parseArguments } from "./arguments.ts";
import { fetchCommand } from "./commands/fetch.ts";
import { say } from "./commands/say.ts";
import { stackCommand } from "./commands/stack.ts";
import { storesCommand } from "./commands/stores.ts";

const exitCode = await carryOut(process.argv.slice(2)).catch((error: unknown) => {
  say(Error.isError(error) ? error.message : String(error));
  return 1;
});
// An open standard input would keep the process alive.
process.exit(exitCode);

async function carryOut(args: readonly string[]): Promise<number> {
  const asked = parseArguments(args);
  switch (asked.command) {
    case "fetch":
      return fetchCommand();
    case "stores":
      return storesCommand(asked);
    case "stack":
      return stackCommand(asked);
  }
}
