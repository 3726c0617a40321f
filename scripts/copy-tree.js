// Copies this tree as hard links, for commands that change files and must not change the checkout's.
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { dirname, join } from "node:path";

const root = dirname(import.meta.dirname);

/**
 * Copies what git tracks or would track. Packages of the registry are shared; those of this repository are the copy's own,
 * since their links are relative.
 */
export function copyTree(copy) {
  fs.rmSync(copy, { recursive: true, force: true });
  const { stdout } = spawnSync("git", ["ls-files", "-z", "-co", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  const files = stdout.split("\0").filter((file) => file && fs.existsSync(join(root, file)));
  for (const file of files) {
    fs.mkdirSync(dirname(join(copy, file)), { recursive: true });
    fs.linkSync(join(root, file), join(copy, file));
  }
  fs.symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  for (const file of files) {
    const packages = join(dirname(file), "node_modules");
    if (!file.endsWith("/package.json") || !fs.existsSync(join(root, packages))) continue;
    fs.cpSync(join(root, packages), join(copy, packages), {
      recursive: true,
      verbatimSymlinks: true,
    });
  }
  return files;
}

/** Replaces a file of the copy, which is a hard link, instead of writing into it. */
export function replaceFile(path, text) {
  fs.rmSync(path, { force: true });
  fs.writeFileSync(path, text);
}
