/** Checks the host of a standalone. */
import { type Command } from "commander";
import { CliError } from "../exit.ts";
import { aboutData, dataFolder, portIn } from "../local-server.ts";
import { withDefault, withValue } from "../option.ts";
import { counted } from "../output.ts";
import { type Acting } from "../session.ts";

type Options = { readonly data?: string; readonly host?: string; readonly port?: string };

export function addDoctor(program: Command, acting: Acting): void {
  const doctor = program
    .command("doctor")
    .description("check whether a server runs well on this host, and say how to fix problems");
  withValue(doctor, "--data <folder>", aboutData);
  withDefault(doctor, "--host <address>", {
    ...{
      about: "The address that the server will listen on",
      fallback: "127.0.0.1",
      example: "0.0.0.0",
    },
  });
  withDefault(doctor, "--port <number>", {
    ...{ about: "Its port", fallback: "8080", example: "80" },
  });
  doctor.action(
    acting<Options>(async ({ output }, _words, { data, host = "", port = "" }) => {
      const { examine } = await import("@posthaste/standalone-process/doctor");
      const findings = await examine({ dataDir: dataFolder(data), host, port: portIn(port) });
      output.rows(findings, [
        ["", ({ verdict }) => verdict],
        ["SUBJECT", ({ subject }) => subject],
        ["FOUND", ({ found }) => found],
        ["REMEDY", ({ remedy }) => remedy],
      ]);
      const wrong = findings.filter(({ verdict }) => verdict === "wrong").length;
      if (wrong > 0) throw new CliError("failed", `${counted(wrong, "problem")} to fix`);
    }),
  );
}
