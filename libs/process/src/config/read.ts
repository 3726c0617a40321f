/** Reads the configuration of a process, or writes the problems and ends the process. */
import { type z } from "zod";
import { type Environment, loadConfig, messageOf } from "./load.ts";

/** From sysexits.h: a supervisor need not try again with the same environment. */
const exitCodeOfConfig = 78;

export function readConfig<S extends Readonly<Record<string, z.ZodType>>>(
  schema: z.ZodObject<S>,
  env: Environment = process.env,
): Readonly<z.output<z.ZodObject<S>>> {
  const loaded = loadConfig(schema, { env });
  if (loaded.kind === "loaded") return loaded.config;
  return refuse(loaded.message);
}

/** Ends the process for a problem that only a driver finds. `problem` names the variable, and contains no secret. */
export const refuseConfig = (problem: string): never => refuse(messageOf([problem]));

function refuse(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(exitCodeOfConfig);
}
