/** Describes the host of a measurement: everything that explains the figures, nothing that identifies the host. */
import { closeSync, fdatasyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { cpus, loadavg, release, totalmem, type } from "node:os";
import { join } from "node:path";
import { dataFolder, repository } from "../folders.ts";
import { percentile } from "../statistics.ts";
import { redisVersion } from "../systems/redis.ts";
import { figure, table } from "./markdown.ts";

/** Reads the host before a run. Returns the function that renders it after the run, which may have installed Redis. */
export function readHost(): () => string {
  const sync = syncMs();
  const packages = ["undici", "bullmq"].map((name) => `${name} ${packageVersion(name)}`);
  const before = [
    ["cores", `${cpus().length} × ${cpus()[0]?.model ?? "unknown"}`],
    ["load average before the run, 1 min", figure(loadavg()[0])],
    ["memory", `${figure(totalmem() / 2 ** 30)} GiB`],
    ["system", `${type()} ${release()}`],
    [
      "fdatasync of 4 KiB",
      `p50 ${figure(percentile(sync, 0.5))} ms, p99 ${figure(percentile(sync, 0.99))} ms`,
    ],
    ["Node", `${process.version}, SQLite ${process.versions["sqlite"] ?? "none"}`],
    ["packages", packages.join(", ")],
  ];
  return () =>
    table(
      ["", "host"],
      [...before, ["Redis", `${redisVersion()}, append-only file, fsync every second`]],
    );
}

const syncs = 200;

function syncMs(): Float64Array {
  const folder = dataFolder();
  const file = openSync(join(folder.path, "sync"), "w");
  const page = Buffer.alloc(4096);
  const times = Float64Array.from({ length: syncs }, () => {
    const startedAt = performance.now();
    writeSync(file, page);
    fdatasyncSync(file);
    return performance.now() - startedAt;
  });
  closeSync(file);
  folder.remove();
  return times.sort();
}

function packageVersion(name: string): string {
  const file = join(repository, "bench/node_modules", name, "package.json");
  const manifest: unknown = JSON.parse(readFileSync(file, "utf8"));
  const isVersioned = typeof manifest === "object" && manifest !== null && "version" in manifest;
  return isVersioned ? String(manifest.version) : "unknown";
}
