/** Finds zsh and fish: the host's, else Debian's, unpacked into the cache. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { cached } from "../cache.ts";
import { onPath } from "../process/run.ts";
import { libraryFolders, unpackDebianPackage } from "./debian.ts";

export type ShellName = "zsh" | "fish";

export type Shell = { readonly file: string; readonly env: Readonly<Record<string, string>> };

/** Reports whether this host has the shell or can fetch it. */
export const hasShell = (name: ShellName): boolean =>
  onPath(name) !== undefined || ["apt-get", "dpkg-deb"].every((tool) => onPath(tool) !== undefined);

export async function fetchShell(name: ShellName): Promise<Shell> {
  const ofHost = onPath(name);
  if (ofHost !== undefined) return { file: ofHost, env: {} };
  const folder = await cached(`${name}-debian`, (making) => unpackDebianPackage(name, making));
  const file = ["bin", "usr/bin"]
    .map((bin) => join(folder, bin, name))
    .find((path) => existsSync(path));
  if (file === undefined) throw new Error(`Debian's package ${name} has no program ${name}`);
  return { file, env: { LD_LIBRARY_PATH: libraryFolders(folder).join(":") } };
}
