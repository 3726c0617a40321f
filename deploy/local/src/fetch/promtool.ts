/** Prometheus' own checker: the host's, else Debian's, unpacked into the cache. */
import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { cached } from "../cache.ts";
import { onPath, run } from "../process/run.ts";
import { unpackDebianPackageAlone } from "./debian.ts";

const program = "promtool";

/** It is on this host, or can be fetched. */
export const hasPromtool = (): boolean =>
  [program, "apt-get"].some((name) => onPath(name) !== undefined);

async function fetchPromtool(): Promise<string> {
  const ofHost = onPath(program);
  if (ofHost !== undefined) return ofHost;
  const folder = await cached("promtool-debian", async (making) => {
    const whole = join(making, "prometheus");
    await unpackDebianPackageAlone("prometheus", whole);
    renameSync(join(whole, "usr/bin", program), join(making, program));
    rmSync(whole, { recursive: true });
  });
  return join(folder, program);
}

/** What Prometheus makes of an answer of `/metrics`: rejects with its objections. */
export async function checkMetrics(text: string): Promise<void> {
  await run(await fetchPromtool(), ["check", "metrics"], { input: text });
}
