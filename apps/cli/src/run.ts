/** Runs a command line and returns its exit code. */
import { Command } from "commander";
import manifest from "../package.json" with { type: "json" };
import { addAudit } from "./commands/audit.ts";
import { addDeadLetters } from "./commands/dead-letters.ts";
import { addBackup, addRestore } from "./commands/backup.ts";
import { addDev } from "./commands/dev.ts";
import { addDoctor } from "./commands/doctor.ts";
import { addFlow } from "./commands/flow.ts";
import { addGroups } from "./commands/groups.ts";
import { addMessages } from "./commands/messages.ts";
import { addKeys } from "./commands/keys.ts";
import { addMigrate } from "./commands/migrate.ts";
import { addTenants } from "./commands/tenants.ts";
import { addProfiles } from "./commands/profiles.ts";
import { addPublishing } from "./commands/publishing.ts";
import { addQueues } from "./commands/queues.ts";
import { addRuns } from "./commands/runs.ts";
import { addSchedules } from "./commands/schedules.ts";
import { addServe } from "./commands/serve.ts";
import { watched, type Watching, withWatch } from "./watch.ts";
import { addCompletion } from "./completion.ts";
import { endingOf, exitCodes } from "./exit.ts";
import { withValue } from "./option.ts";
import {
  type Act,
  type Acting,
  argumentsOf,
  type GlobalOptions,
  type Host,
  Session,
} from "./session.ts";

const add = [
  addDev,
  addServe,
  addDoctor,
  addBackup,
  addRestore,
  addPublishing,
  addMessages,
  addDeadLetters,
  addSchedules,
  addQueues,
  addGroups,
  addFlow,
  addRuns,
  addKeys,
  addAudit,
  addTenants,
  addMigrate,
  addProfiles,
  addCompletion,
];

export async function run(words: readonly string[], host: Host): Promise<number> {
  let session = new Session(host, {});
  const acting: Acting =
    <O>(act: Act<O>) =>
    async (...given) => {
      const { args, command } = argumentsOf(given);
      const options = command.optsWithGlobals<GlobalOptions & Watching>();
      const { watch } = options;
      const once = (at: Host): Promise<void> => {
        session = new Session(at, options);
        return act(session, args, command.opts() as O);
      };
      if (watch === undefined) return once(host);
      await watched(host, watch, async (at) => {
        await once(at);
        session.close();
      });
    };
  const program = programOf(host, acting);
  if (words.length === 0) {
    program.outputHelp();
    return exitCodes.ok;
  }
  try {
    await program.parseAsync(words, { from: "user" });
    return exitCodes.ok;
  } catch (error) {
    const { code, line } = endingOf(error, session, host.interrupted);
    if (line !== undefined) host.err.write(`${line}\n`);
    return code;
  } finally {
    session.close();
  }
}

export function programOf(host: Host, acting: Acting): Command {
  const program = new Command("posthaste")
    .description("Posthaste from the command line: publish and manage messages, run workflows")
    .version(manifest.version)
    .option(
      "--json",
      "print JSON, one value on a line; the default if the output is not a terminal",
    );
  withValue(program, "--server <url>", {
    about: "The server to call; overrides POSTHASTE_URL and the profile",
    fallback: "http://127.0.0.1:8080, for tenants http://127.0.0.1:8082",
    example: "https://posthaste.example",
  });
  withValue(program, "--profile <name>", {
    about: "The profile that names the server",
    ...{ fallback: "the one in use", example: "north" },
  });
  // The text of each option states its default.
  program.configureHelp({ optionDescription: ({ description }) => description });
  program.exitOverride().configureOutput({
    writeOut: (text) => void host.out.write(text),
    writeErr: (text) => void host.err.write(text),
    outputError: (text, write) =>
      write(
        `posthaste: ${text
          .trim()
          .replace(/^error: /, "")
          .replace(
            /^unknown option '-[^']*'$/,
            "$&; a name or an id that begins with - goes after --",
          )
          .replaceAll("\n", " ")}\n`,
      ),
  });
  for (const each of add) each(program, acting);
  for (const command of program.commands.flatMap((each) => each.commands))
    if (["ls", "show"].includes(command.name())) withWatch(command);
  return program;
}

export { exitCodes } from "./exit.ts";
export { commandVariables } from "./variables.ts";
export { type Host } from "./session.ts";
