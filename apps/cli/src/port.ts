import { CliError } from "./exit.ts";

/** Leaves room for the two ports that follow, which the server uses as well. */
const portMax = 65_533;

/** Returns the port that `--port` names. Throws for a number that is no port. */
export function portIn(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > portMax)
    throw new CliError("usage", `--port: must be a number from 1 to ${portMax}`);
  return port;
}
