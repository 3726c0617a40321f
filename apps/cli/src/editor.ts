/** Opens a text in the editor that the environment names, as git does. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CliError } from "./exit.ts";
import { readableText } from "./readable-text.ts";
import { type Environment } from "./variables.ts";

/** `mustBeJson`: an edited text that is not JSON is refused, and its file kept. */
export async function edited(env: Environment, text: string, mustBeJson: boolean): Promise<string> {
  const editor = env.VISUAL || env.EDITOR;
  if (!editor) throw new CliError("usage", "--edit: set EDITOR to the editor to open");
  const folder = mkdtempSync(join(tmpdir(), "posthaste-"));
  const file = join(folder, mustBeJson ? "body.json" : "body.txt");
  writeFileSync(file, text, { mode: 0o600 });
  // Runs in a shell, since the variable may hold arguments.
  const child = spawn("sh", ["-c", `${editor} "$0"`, file], { stdio: "inherit" });
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0)
    throw new CliError(
      "failed",
      `the editor has ended with ${code}: nothing was sent, see ${file}`,
    );
  const read = readableText(readFileSync(file));
  if (read === undefined)
    throw new CliError("usage", `the edited body is not text: nothing was sent, see ${file}`);
  const after = withoutAddedLine(read, text);
  if (mustBeJson && !isJson(after))
    throw new CliError("usage", `the edited body is not JSON: nothing was sent, see ${file}`);
  rmSync(folder, { recursive: true });
  return after;
}

/** Removes the line feed that editors add at the end of a file. */
const withoutAddedLine = (after: string, before: string): string =>
  before.endsWith("\n") ? after : after.replace(/\r?\n$/, "");

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
