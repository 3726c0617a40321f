/**
 * PostgreSQL with the DocumentDB extension, from Debian's testing suite, on a host with an older libc.
 *
 * apt resolves the package and all that it needs as if nothing were installed, in folders of its own, and verifies
 * the archive's signature. The packages are unpacked, not installed, and each program is started by the loader that
 * is among them: so it needs no root, no chroot, no mount, and changes nothing on the host. What the packages' scripts
 * would have done for us is done below. The suite moves on until it is released; its name keeps the major versions.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cached } from "../cache.ts";
import { needTools, run, runWithPatience } from "../process/run.ts";
import { debianMirror, libraryFolders, unpackDebianFiles } from "./debian.ts";

export type PostgresqlBinaries = { readonly name: string; readonly bin: string };

const major = 18;
const suite = "forky";
const packageName = `postgresql-${major}-documentdb`;
const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg";
const programs = ["initdb", "postgres"];

export async function fetchPostgresql(): Promise<PostgresqlBinaries> {
  const folder = await cached(`${packageName}-${suite}`, async (making) => {
    needTools("apt-get", "dpkg-deb");
    await unpack(making);
    linkAlternatives(making);
    for (const program of programs) startByOwnLoader(making, program);
    await run(join(making, binPath, "postgres"), ["--version"]);
  });
  return { name: `PostgreSQL ${major}`, bin: join(folder, binPath) };
}

const binPath = `usr/lib/postgresql/${major}/bin`;

async function unpack(folder: string): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), "posthaste-apt-"));
  try {
    for (const path of ["state/lists/partial", "cache/archives/partial"])
      mkdirSync(join(work, path), { recursive: true });
    const signedBy = existsSync(keyring) ? `[signed-by=${keyring}] ` : "";
    writeFileSync(
      join(work, "sources.list"),
      `deb ${signedBy}${await debianMirror()} ${suite} main\n`,
    );
    writeFileSync(join(work, "status"), "");
    writeFileSync(join(work, "apt.conf"), aptSettings(work));
    const env = { ...process.env, APT_CONFIG: join(work, "apt.conf"), LC_ALL: "C" };
    await runWithPatience("apt-get", ["-q", "update"], { env });
    await runWithPatience("apt-get", ["-q", "-y", "--download-only", "install", packageName], {
      env,
    });
    await unpackDebianFiles(join(work, "cache/archives"), folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The host's own settings hold beside these: its proxy, how it treats an old mirror. */
function aptSettings(work: string): string {
  const settings = {
    "Dir::State": join(work, "state"),
    "Dir::State::status": join(work, "status"),
    "Dir::Cache": join(work, "cache"),
    "Dir::Etc::sourcelist": join(work, "sources.list"),
    "Dir::Etc::sourceparts": "/dev/null",
    "Dir::Etc::preferences": "/dev/null",
    "Dir::Etc::preferencesparts": "/dev/null",
    "APT::Install-Recommends": "false",
    // No other user can write into our temporary folder.
    "APT::Sandbox::User": "root",
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name} "${value}";\n`)
    .join("");
}

/** Debian chooses among versions of PostGIS by a link that an installation makes. */
function linkAlternatives(folder: string): void {
  const extensions = join(folder, `usr/share/postgresql/${major}/extension`);
  symlinkSync("postgis-3.control", join(extensions, "postgis.control"));
}

/** initdb starts the postgres that stands beside it, so a script takes the place of each program. */
function startByOwnLoader(folder: string, program: string): void {
  const [libraries] = libraryFolders(folder);
  if (libraries === undefined) throw new Error(`${packageName} came without libraries`);
  const loader = readdirSync(libraries).find((name) => /^ld-linux.*\.so\.\d+$/.test(name));
  if (loader === undefined) throw new Error(`${packageName} came without a loader`);
  const here = libraries.slice(folder.length + 1);
  const file = join(folder, binPath, program);
  renameSync(file, `${file}.elf`);
  writeFileSync(
    file,
    `#!/bin/sh
root=$(cd "$(dirname "$0")/${"../".repeat(binPath.split("/").length)}" && pwd)
libraries=$root/${here}
path=$libraries:$libraries/blas:$libraries/lapack:$root/usr/lib/postgresql/${major}/lib
exec "$libraries/${loader}" --argv0 "$0" --library-path "$path" "$0.elf" "$@"
`,
  );
  chmodSync(file, 0o755);
}
