/** Finds Redis: the host's, else Debian's, unpacked into the cache. */
import { join } from "node:path";
import { cached } from "../cache.ts";
import { onPath, run } from "../process/run.ts";
import { libraryFolders, unpackDebianPackage } from "./debian.ts";

export type RedisBinary = {
  readonly name: string;
  readonly file: string;
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** Debian's `redis-server` is a link to this file, which acts by its own name. The package redis-tools starts no service. */
const inDebian = { package: "redis-tools", file: "usr/bin/redis-check-rdb" };
export const redisArgv0 = "redis-server";

export async function fetchRedis(): Promise<RedisBinary> {
  const ofHost = onPath("redis-server") ?? onPath("valkey-server");
  if (ofHost !== undefined) return named(ofHost, process.env);
  const folder = await cached("redis-debian", (making) =>
    unpackDebianPackage(inDebian.package, making),
  );
  const inherited = process.env["LD_LIBRARY_PATH"];
  const libraries = [...libraryFolders(folder), ...(inherited ? [inherited] : [])].join(":");
  return named(join(folder, inDebian.file), { ...process.env, LD_LIBRARY_PATH: libraries });
}

async function named(file: string, env: RedisBinary["env"]): Promise<RedisBinary> {
  const version = await run(file, ["--version"], { env, argv0: redisArgv0 });
  return { name: nameOf(version), file, env };
}

export function nameOf(version: string): string {
  const product = /^valkey/i.test(version) ? "Valkey" : "Redis";
  return `${product} ${/v=(\S+)/.exec(version)?.[1] ?? "of unknown version"}`;
}
