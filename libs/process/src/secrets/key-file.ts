/** The sealing key of a standalone that was given none: a file beside the store, readable by its owner only. */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { writeOnce } from "./write-once.ts";

const fileName = "sealing.key";
const keyBytes = 32;

/**
 * Returns the key in `folder`, made if there is none and `make` is true. The caller has the folder to itself. A key
 * is never seen half-written, and is on the disk before it seals anything: without it no sealed secret can be read.
 */
export function keyInFile(folder: string, make: boolean): Uint8Array | undefined {
  const path = join(folder, fileName);
  const found = readKey(path);
  if (found || !make) return found;
  const key = randomBytes(keyBytes);
  writeOnce(path, `${key.toString("base64")}\n`);
  return key;
}

function readKey(path: string): Uint8Array | undefined {
  const text = readIfThere(path);
  if (text === undefined) return undefined;
  const key = Buffer.from(text, "base64");
  if (key.length === keyBytes) return key;
  throw new Error(`${path} holds no sealing key: restore it from a backup`);
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (Error.isError(error) && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
