/** The door of every process: its configuration, or a message and the end. */
import { type z } from "zod";
import { type Environment, loadConfig } from "./load.ts";

/** sysexits.h: a supervisor need not try again with the same environment. */
const exitCodeOfConfig = 78;

export function readConfig<S extends Readonly<Record<string, z.ZodType>>>(
  schema: z.ZodObject<S>,
  env: Environment = process.env,
): Readonly<z.output<z.ZodObject<S>>> {
  const loaded = loadConfig(schema, { env });
  if (loaded.kind === "loaded") return loaded.config;
  process.stderr.write(`${loaded.message}\n`);
  process.exit(exitCodeOfConfig);
}
