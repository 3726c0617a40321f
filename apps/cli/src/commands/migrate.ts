/** Migrates a cluster's MongoDB. Talks to the database, not to a server of Posthaste. */
import { type Command } from "commander";
import { CliError } from "../exit.ts";
import { type Acting } from "../session.ts";

type Options = { readonly check?: boolean };

export function addMigrate(program: Command, acting: Acting): void {
  program
    .command("migrate")
    .description("prepare MongoDB for a new version of the six services")
    .option("--check", "Only report what is missing")
    .action(
      acting<Options>(async ({ host: { env }, output }, _words, { check = false }) => {
        const { migrate } = await import("@posthaste/migrate-process");
        const told = { env, isCheck: check, tell: (doing: string) => output.lines([doing]) };
        const missing = await migrate(told).catch(failed);
        output.lines(missing);
        if (missing.length > 0)
          throw new CliError(
            "failed",
            `${missing.length} missing: run posthaste migrate to build them`,
          );
        output.done("nothing is missing", { missing });
      }),
    );
}

function failed(error: unknown): never {
  throw new CliError("failed", Error.isError(error) ? error.message : String(error));
}
