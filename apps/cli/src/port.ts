import { CliError } from "./exit.ts";

/** A server has the next two ports as well. */
const portMax = 65_533;

/** Returns the port that `--port` names. Throws when there is none of that number. */
export function portIn(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > portMax)
    throw new CliError("usage", `--port: must be a number from 1 to ${portMax}`);
  return port;
}
