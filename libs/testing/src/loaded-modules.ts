/** Finds the modules that a process loads, for heavy ones that must be loaded only where they are needed. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const watched = `
  import { registerHooks } from "node:module";
  registerHooks({ load: (url, context, next) => (console.log(url), next(url, context)) });
`;

/** Returns the URLs of all modules that a fresh process loads for `script`, an ES module without static imports. */
export async function modulesLoadedBy(script: string): Promise<readonly string[]> {
  const args = ["--disable-warning=ExperimentalWarning", "--input-type=module"];
  const evaluated = ["--eval", `${watched}${script}`];
  const { stdout } = await promisify(execFile)(process.execPath, [...args, ...evaluated]);
  return stdout.split("\n");
}
