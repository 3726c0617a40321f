/** The data folder of a standalone: its first secrets, copies of it, and copies put into a new one. No server is needed. */
import { copyFileSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import {
  type CopiedDatabase,
  copyDatabase,
  databaseFile,
  restoreDatabase,
} from "@posthaste/embedded";
import { secretInFile, type SecretName, systemRandom } from "@posthaste/process";

const ownerOnly = 0o700;
const secretsFolder = "secrets";
const keyFile = "sealing.key";

/** The secrets that the production profile requires. The sealing key has a file that the server itself makes. */
const wanted = [
  "token",
  "signing-key-current",
  "signing-key-next",
  "management-password",
] as const satisfies readonly SecretName[];

/** Returns the folder's secrets, by the variables that name their files. Makes those that neither the environment nor the folder has. */
export function firstSecrets(
  dataDir: string,
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const folder = join(dataDir, secretsFolder);
  mkdirSync(folder, { recursive: true, mode: ownerOnly });
  const random = systemRandom();
  return Object.fromEntries(
    wanted.flatMap((name) => {
      const variable = `POSTHASTE_${name.toUpperCase().replaceAll("-", "_")}`;
      const isGiven = env[variable] !== undefined || env[`${variable}_FILE`] !== undefined;
      return isGiven ? [] : [[`${variable}_FILE`, secretInFile(folder, name, random).path]];
    }),
  );
}

export type FolderCopy = CopiedDatabase & {
  /** Whether the copy has the sealing key, without which sealed values cannot be read. */
  readonly hasKey: boolean;
};

/**
 * Copies the database of `dataDir`, also while a server uses it, into the new folder `target`, and reads the copy
 * back. Copies the sealing key and the secrets, too, if `withSecrets` is true.
 */
export function backUp(dataDir: string, target: string, withSecrets: boolean): FolderCopy {
  mustHaveDatabase(dataDir);
  mkdirSync(target, { recursive: true, mode: ownerOnly });
  const copied = copyDatabase(dataDir, join(target, databaseFile));
  if (withSecrets) copySecrets(dataDir, target);
  return { ...copied, hasKey: existsSync(join(target, keyFile)) };
}

/** Puts a copy into `dataDir`, which must have no database. Reads the copy first, whole. */
export function restore(from: string, dataDir: string): FolderCopy {
  mustHaveDatabase(from);
  mkdirSync(dataDir, { recursive: true, mode: ownerOnly });
  const restored = restoreDatabase(join(from, databaseFile), dataDir);
  copySecrets(from, dataDir);
  return { ...restored, hasKey: existsSync(join(dataDir, keyFile)) };
}

/** Copies existing secrets, and replaces none. */
function copySecrets(from: string, to: string): void {
  const folder = join(from, secretsFolder);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  if (names.length > 0) mkdirSync(join(to, secretsFolder), { recursive: true, mode: ownerOnly });
  for (const name of [keyFile, ...names.map((each) => join(secretsFolder, each))])
    if (existsSync(join(from, name)) && !existsSync(join(to, name)))
      copyFileSync(join(from, name), join(to, name));
}

/** Called before anything is made. */
function mustHaveDatabase(folder: string): void {
  if (!existsSync(join(folder, databaseFile))) throw new Error(`${folder} has no ${databaseFile}`);
}
