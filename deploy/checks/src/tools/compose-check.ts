/** A Compose file as `docker compose` reads it: schema, interpolation, `.env`, profiles. */
import { resolve } from "node:path";
import { root } from "../root.ts";
import { buildGoTool } from "./go-tool.ts";
import { type Ran, run } from "./run.ts";

export const buildComposeCheck = () => buildGoTool({ module: "compose", program: "." });

/** Standard output: the project as JSON. `file` is in the checkout, or absolute. */
export async function runComposeCheck(
  file: string,
  profiles: readonly string[] = [],
): Promise<Ran> {
  const env = { PATH: process.env["PATH"], HOME: process.env["HOME"] };
  return run(await buildComposeCheck(), [resolve(root, file), ...profiles], { cwd: root, env });
}
