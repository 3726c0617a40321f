/** Runs a command to its end and returns its whole output. */
import { execFile } from "node:child_process";

export type Ran = {
  /** The exit code, or a text when the command could not start or was killed. */
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
};

const outputBytesMax = 64 * 1024 * 1024;

export function run(
  file: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(file, args, { ...options, maxBuffer: outputBytesMax }, (error, stdout, stderr) => {
      resolve({ code: error ? (error.code ?? error.message) : 0, stdout, stderr });
    });
  });
}

/** Returns standard output. Throws with the whole output when the command fails. */
export async function mustRun(
  file: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  const { code, stdout, stderr } = await run(file, args, options);
  if (code === 0) return stdout;
  throw new Error(`${file} ${args.slice(0, 3).join(" ")} failed (${code}): ${stdout}${stderr}`);
}
