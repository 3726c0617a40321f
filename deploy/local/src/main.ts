/**
 * `npm run stack`: the stores and the six services on this host, without Docker, until Ctrl-C.
 * The exit code is 1 when something that is needed cannot be had; with `--strict`, when anything cannot.
 */
import { type Asked, parseArguments } from "./arguments.ts";
import { fetchCommand } from "./commands/fetch.ts";
import { say } from "./commands/say.ts";
import { stackCommand } from "./commands/stack.ts";
import { storesCommand } from "./commands/stores.ts";

try {
  process.exitCode = await carryOut(parseArguments(process.argv.slice(2)));
} catch (error) {
  say(Error.isError(error) ? error.message : String(error));
  process.exitCode = 1;
}

function carryOut(asked: Asked): Promise<number> {
  switch (asked.command) {
    case "fetch":
      return fetchCommand();
    case "stores":
      return storesCommand(asked);
    case "stack":
      return stackCommand(asked);
  }
}
