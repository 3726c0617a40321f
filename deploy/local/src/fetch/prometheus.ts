/** Finds Prometheus and promtool: the host's, else Debian's, unpacked into the cache. */
import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { cached } from "../cache.ts";
import { onPath, run } from "../process/run.ts";
import { unpackDebianPackageAlone } from "./debian.ts";

const programs = ["prometheus", "promtool"] as const;

/** Reports whether this host has the programs or can fetch them. */
export const hasPrometheus = (): boolean =>
  programs.every((name) => onPath(name) !== undefined) ||
  ["apt-get", "dpkg-deb"].every((name) => onPath(name) !== undefined);

export async function fetchPrometheus(program: (typeof programs)[number]): Promise<string> {
  const ofHost = onPath(program);
  if (ofHost !== undefined) return ofHost;
  const folder = await cached("prometheus-debian", async (making) => {
    const whole = join(making, "whole");
    await unpackDebianPackageAlone("prometheus", whole);
    for (const name of programs) renameSync(join(whole, "usr/bin", name), join(making, name));
    rmSync(whole, { recursive: true });
  });
  return join(folder, program);
}

/** Checks an answer of `/metrics` with promtool. Rejects with its objections. */
export const checkMetrics = (text: string): Promise<string> =>
  promtool(["check", "metrics"], { input: text });

/** Rejects with promtool's output when it fails. */
export async function promtool(
  args: readonly string[],
  options: { readonly input?: string } = {},
): Promise<string> {
  return run(await fetchPrometheus("promtool"), args, options);
}
