/** Reads a Compose file as `docker compose` does: schema, interpolation, `.env` and profiles. */
import { resolve } from "node:path";
import { root } from "../root.ts";
import { buildGoTool } from "./go-tool.ts";
import { type Ran, run } from "./run.ts";

export const buildComposeCheck = () => buildGoTool({ module: "compose", program: "." });

/** Prints the project as JSON. `file` is relative to the checkout, or absolute. */
export async function runComposeCheck(
  file: string,
  profiles: readonly string[] = [],
): Promise<Ran> {
  const env = { PATH: process.env["PATH"], HOME: process.env["HOME"] };
  return run(await buildComposeCheck(), [resolve(root, file), ...profiles], { cwd: root, env });
}
