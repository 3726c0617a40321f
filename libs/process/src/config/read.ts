/** The door of every process: its configuration, or a message and the end. */
import { type z } from "zod";
import { type Environment, loadConfig, messageOf } from "./load.ts";

/** sysexits.h: a supervisor need not try again with the same environment. */
const exitCodeOfConfig = 78;

export function readConfig<S extends Readonly<Record<string, z.ZodType>>>(
  schema: z.ZodObject<S>,
  env: Environment = process.env,
): Readonly<z.output<z.ZodObject<S>>> {
  const loaded = loadConfig(schema, { env });
  if (loaded.kind === "loaded") return loaded.config;
  return refuse(loaded.message);
}

/** For what only a driver finds wrong. `problem` names the variable, and holds no secret. */
export const refuseConfig = (problem: string): never => refuse(messageOf([problem]));

function refuse(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(exitCodeOfConfig);
}
