/** Fetches other JavaScript runtimes for tests: the binaries that npm carries for x86-64 Linux with glibc. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { onPath } from "../process/run.ts";
import { cached } from "../cache.ts";
import { installNpmPackages } from "./clients.ts";

/** A newer version: `npm view <name>@<version> dist.integrity`. */
const runtimes = {
  bun: {
    name: "@oven/bun-linux-x64",
    version: "1.4.5",
    integrity:
      "sha512-IWX9BELoGHAUtMonkeSaNaZwXzRk+oDw6Mk+HBFXd3KHYIBNBsIGRupMZPcgNoDbJpLu6gAJjIoIVPZtt1aJ1g==",
    binary: "bin/bun",
  },
  deno: {
    name: "@deno/linux-x64-glibc",
    version: "2.9.6",
    integrity:
      "sha512-3md4TKLCuzsLDmfOoC5KN7NAZaxSVkMgm64vg6foD00JBADCpYS2/5QqXfzgnP5ZQz3iLP9vBQJtEgc116OAoQ==",
    binary: "deno",
  },
} as const;

export type Runtime = keyof typeof runtimes;

/** Returns what this host lacks to run the binaries. */
export function lackedByRuntimes(): string | undefined {
  if (process.platform !== "linux" || process.arch !== "x64" || !hasGlibc())
    return "x86-64 Linux with glibc";
  return onPath("npm") === undefined ? "npm" : undefined;
}

/** Node's own report names the version of glibc where Node runs on it. */
function hasGlibc(): boolean {
  const { header } = process.report.getReport() as { readonly header?: object };
  return header !== undefined && "glibcVersionRuntime" in header;
}

/** Returns the path of the runtime's binary, whose package npm has compared with `integrity`. */
export async function fetchRuntime(runtime: Runtime): Promise<string> {
  const { name, version, integrity, binary } = runtimes[runtime];
  const folder = await cached(`${runtime}-${version}`, async (making) => {
    await installNpmPackages(making, [`${name}@${version}`]);
    const found = integrityOf(making, name);
    if (found !== integrity) throw new Error(`${name}@${version} has the checksum ${found}`);
  });
  return join(folder, "node_modules", name, binary);
}

function integrityOf(folder: string, name: string): string | undefined {
  const text = readFileSync(join(folder, "node_modules/.package-lock.json"), "utf8");
  const { packages } = JSON.parse(text) as {
    readonly packages: Readonly<Record<string, { readonly integrity?: string }>>;
  };
  return packages[`node_modules/${name}`]?.integrity;
}
