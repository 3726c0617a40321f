/** Builds programs from the committed Go modules in `tools/`, verified by go.sum, once a host. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { cached } from "@posthaste/local/cache";
import { root } from "../root.ts";
import { mustRun } from "./run.ts";

export type GoTool = {
  readonly module: string;
  readonly program: string;
};

export async function buildGoTool({ module, program }: GoTool): Promise<string> {
  const source = join(root, "deploy/checks/tools", module);
  const folder = await cached(`check-${module}-${hashOf(source)}`, async (making) => {
    const options = ["-trimpath", "-buildvcs=false", "-ldflags=-s -w"];
    const output = ["-o", join(making, module)];
    await mustRun("nice", ["go", "build", ...options, ...output, program], { cwd: source });
  });
  return join(folder, module);
}

const hashLength = 12;

export function hashOf(folder: string, also = ""): string {
  const hash = createHash("sha256").update(also);
  for (const name of readdirSync(folder).sort())
    hash.update(name).update(readFileSync(join(folder, name)));
  return hash.digest("hex").slice(0, hashLength);
}
