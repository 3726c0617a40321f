/** Compares files with a lock in the form of `sha256sum`: one line `<hex>  <file name>` each. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Throws unless `folder` holds exactly the files of `lockFile`, with these sums. */
export function verify(folder: string, lockFile: string): void {
  const locked = parseLock(readFileSync(lockFile, "utf8"));
  const found = new Map(readdirSync(folder).map((name) => [name, sumOf(join(folder, name))]));
  const wrong = differences(locked, found);
  if (wrong.length > 0) throw new Error(`${wrong.join("; ")} (by ${lockFile})`);
}

export type Sums = ReadonlyMap<string, string>;

export function parseLock(text: string): Sums {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return new Map(
    lines.map((line): [string, string] => {
      const [, sum, name] = /^([0-9a-f]{64}) [ *](\S+)$/.exec(line) ?? [];
      if (sum === undefined || name === undefined) throw new Error(`not a line of a lock: ${line}`);
      return [name, sum];
    }),
  );
}

export function differences(locked: Sums, found: Sums): string[] {
  const names = [...new Set([...locked.keys(), ...found.keys()])].sort();
  return names.flatMap((name) => {
    if (!found.has(name)) return [`${name} is missing`];
    if (!locked.has(name)) return [`${name} is not in the lock`];
    return found.get(name) === locked.get(name) ? [] : [`${name} has another checksum`];
  });
}

function sumOf(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}
