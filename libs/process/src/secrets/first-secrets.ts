/** The secrets that a first start needs: each in a file of its own, made once, readable by its owner only. */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { newSigningKey, newToken } from "@posthaste/http";
import { type Random } from "@posthaste/ports";
import { writeOnce } from "./write-once.ts";

const passwordLength = 32;
const keyBytes = 32;

/** By the names of their files, in the forms that the configuration accepts as `POSTHASTE_<NAME>_FILE`. */
const makers = {
  token: (random: Random) => newToken("default", random),
  "signing-key-current": newSigningKey,
  "signing-key-next": newSigningKey,
  "management-password": (random: Random) => random.text(passwordLength),
  "sealing-keys": () => randomBytes(keyBytes).toString("base64"),
} as const satisfies Readonly<Record<string, (random: Random) => string>>;

export type SecretName = keyof typeof makers;

/** Makes the secret's file in `folder` unless it is there. Returns its path, and whether it was made. */
export function secretInFile(
  folder: string,
  name: SecretName,
  random: Random,
  mode?: number,
): { readonly path: string; readonly isNew: boolean } {
  const path = join(folder, name);
  if (existsSync(path)) return { path, isNew: false };
  writeOnce(path, makers[name](random), mode);
  return { path, isNew: true };
}
